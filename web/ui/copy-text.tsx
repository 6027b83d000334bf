import { useRef, useState } from 'preact/hooks'
import { t } from '../translations/translate.ts'

/** Text with a copy button, for example a secret that is shown once. */
export function CopyText({ text, label }: { text: string; label: string }) {
  const [buttonText, setButtonText] = useState(t('Copy'))
  const code = useRef<HTMLElement>(null)
  return (
    <span class="copy">
      <code ref={code}>{text}</code>
      <button
        type="button"
        aria-label={t('{action} {label}', { action: buttonText, label })}
        onClick={() => void copyText()}
      >
        {buttonText}
      </button>
    </span>
  )

  async function copyText() {
    try {
      await navigator.clipboard.writeText(text)
      setButtonText(t('Copied'))
    } catch {
      // The clipboard API needs HTTPS; without it, select the text so that Ctrl+C copies it.
      getSelection()?.selectAllChildren(code.current!)
      setButtonText(document.execCommand?.('copy') ? t('Copied') : t('Selected: press Ctrl+C'))
    }
  }
}
