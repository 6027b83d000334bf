import { useState } from 'preact/hooks'
import './proof-file.css'

interface ProofFileContent {
  mediaType: string
  content: string
}

interface Props {
  file: { name: string; mediaType: string; size: number }
  /** Returns the file, or an error text. */
  load: () => Promise<ProofFileContent | string>
  texts: { show: string; download: string }
}

/** A photo, which is loaded when it is opened, or a document to download. Content of users is never opened as a page. */
export function ProofFile({ file, load, texts }: Props) {
  const [url, setUrl] = useState<string>()
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const isImage = file.mediaType.startsWith('image/')
  return (
    <div class="proof-file">
      <span dir="auto">{file.name}</span> <span class="soft">({formatSize(file.size)})</span>{' '}
      {url === undefined ? (
        <button type="button" class="plain small flush" disabled={busy} onClick={() => void open()}>
          {isImage ? texts.show : texts.download}
          <span class="hidden-text"> {file.name}</span>
        </button>
      ) : isImage ? (
        <img src={url} alt={file.name} />
      ) : (
        <a href={url} download={file.name}>
          {texts.download}
        </a>
      )}
      {error && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
    </div>
  )

  async function open() {
    setBusy(true)
    setError(undefined)
    const result = await load()
    setBusy(false)
    if (typeof result === 'string') return setError(result)
    const dataUrl = `data:${result.mediaType};base64,${result.content}`
    setUrl(dataUrl)
    if (isImage) return
    const link = document.createElement('a')
    link.href = dataUrl
    link.download = file.name
    link.click()
  }
}

function formatSize(bytes: number): string {
  return bytes < 1_048_576 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`
}
