import { useState } from 'preact/hooks'

let message = ''

/** Sets a message that the next page shows once. */
export function setFlashMessage(text: string): void {
  message = text
}

/** Returns the message that the previous page set, or an empty string, and clears it. */
export function useFlashMessage(): string {
  const [text] = useState(() => message)
  message = ''
  return text
}
