import { useRef, useState } from 'preact/hooks'

/** A text to take elsewhere, such as a secret that is shown once. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('Copy')
  const code = useRef<HTMLElement>(null)
  return (
    <span class="copy">
      <code ref={code}>{text}</code>
      <button type="button" aria-label={`${said} ${label}`} onClick={() => void copy()}>
        {said}
      </button>
    </span>
  )

  async function copy() {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      // Without HTTPS there is no clipboard to write to: marked, it is one key away.
      getSelection()?.selectAllChildren(code.current!)
      setSaid(document.execCommand?.('copy') ? 'Copied' : 'Marked: press Ctrl+C')
    }
  }
}
