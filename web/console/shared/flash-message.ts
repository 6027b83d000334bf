import { useState } from 'preact/hooks'

/** What a page has to say that is shown by the next one. */
let told = ''

export function tellNext(text: string): void {
  told = text
}

/** What the page before had to say, once. */
export function useTold(): string {
  const [text] = useState(() => told)
  told = ''
  return text
}
