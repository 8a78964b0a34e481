/** Addresses of clients, as a proxy in front of the server reports them (`TRUSTED_PROXIES=1`). */

export type Headers = Readonly<Record<string, string>>

const byte = (): number => Math.floor(Math.random() * 256)

/** A request from somewhere else each time: a crowd, or an attacker with a botnet. */
export const fromAnywhere = (): Headers => ({ 'x-forwarded-for': `10.${byte()}.${byte()}.${byte()}` })

/** Always the same address. */
export const fromOne = (): Headers => ({ 'x-forwarded-for': '192.0.2.66' })

/** No proxy: the address of the socket. */
export const direct = (): Headers => ({})
