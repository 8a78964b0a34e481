/** Cookies for programs. Browsers keep them by themselves, and let no script read them. */

/**
 * A `fetch` that keeps the cookies of one server and sends them with each request. It heeds their values and their
 * removal, and neither paths nor domains: use it for one server.
 */
export function fetchWithCookies(): (input: string, init: RequestInit) => Promise<Response> {
  const cookies = new Map<string, string>()
  return async (input, init) => {
    const headers = new Headers(init.headers)
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(input, { ...init, headers })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(set) ?? []
      if (value === '' || /;\s*max-age=0/i.test(set)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
}
