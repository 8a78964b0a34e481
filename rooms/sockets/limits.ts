/** What holds for every socket, whichever endpoint it uses. */

/** The largest message that a client may send, in bytes. */
export const MESSAGE_BYTES_MAX = 16 * 1024
/** The subprotocol of the price feed. */
export const SUBPROTOCOL = 'feed.v1'
