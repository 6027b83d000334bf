/** Keeps what somebody typed until it has been sent: a reload, a dead battery or a lost connection loses nothing. */
export function readDraft<T>(name: string): T | undefined {
  try {
    const text = localStorage.getItem(`attestry ${name}`)
    return text === null ? undefined : (JSON.parse(text) as T)
  } catch {
    return undefined // private windows may refuse storage; the page works without
  }
}

export function keepDraft(name: string, value: unknown): void {
  try {
    localStorage.setItem(`attestry ${name}`, JSON.stringify(value))
  } catch {}
}

export function dropDraft(name: string): void {
  try {
    localStorage.removeItem(`attestry ${name}`)
  } catch {}
}
