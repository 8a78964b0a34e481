/** How the floor tells its host that something went wrong which no caller is waiting for. */

/** Must not throw. `where` names the room or the part, for people to read. */
export type Report = (where: string, error: unknown) => void
