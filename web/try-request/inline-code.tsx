import type { ComponentChildren } from 'preact'

/** Returns a description of the API, in which backticks enclose code. */
export function renderInlineCode(text: string): ComponentChildren {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
