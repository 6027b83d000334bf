/** Drafts of form input in localStorage, so that a reload or a lost connection loses nothing. */
export function readDraft<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(`attestry ${name}`)
    return text === null ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined // storage may be unavailable in private windows; the page works without it
  }
}

export function saveDraft(name: string, value: unknown): void {
  try {
    localStorage.setItem(`attestry ${name}`, JSON.stringify(value))
  } catch {}
}

export function deleteDraft(name: string): void {
  try {
    localStorage.removeItem(`attestry ${name}`)
  } catch {}
}
