/** What the browser keeps for the page. Where it is full or may keep nothing, the page does while it is open. */
export function keeping(storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
  const unkept = new Map<string, string>()
  return {
    get: (key: string): string | null => {
      try {
        return unkept.get(key) ?? storage().getItem(key)
      } catch {
        return null
      }
    },
    set: (key: string, value: string): void => {
      unkept.delete(key)
      try {
        storage().setItem(key, value)
      } catch {
        unkept.set(key, value)
      }
    },
    remove: (key: string): void => {
      unkept.delete(key)
      try {
        storage().removeItem(key)
      } catch {
        // It has kept nothing.
      }
    },
  }
}

/** For all visits and tabs of this browser. */
export const device = keeping(() => localStorage)
/** For this visit, in this tab. */
export const visit = keeping(() => sessionStorage)
