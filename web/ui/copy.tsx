import { useState } from 'preact/hooks'

/** A text to take elsewhere, such as a secret that is shown once. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  return (
    <span class="copy">
      <code>{text}</code>
      <button
        type="button"
        aria-label={`Copy ${label}`}
        onClick={() => {
          void navigator.clipboard?.writeText(text).then(() => setCopied(true))
        }}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  )
}
