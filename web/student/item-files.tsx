import { useState } from 'preact/hooks'
import type { ProofFile } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import { type SessionCall, type SessionChange, type SourceItem, sourceTypeOf } from './session.ts'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  files: ProofFile[]
  /** The item to which files can be added; undefined if files can only be deleted. */
  item: SourceItem | undefined
  /** Whether the session has the maximum number of files. */
  isFull: boolean
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onChange: (change: SessionChange) => void
}

export const MAX_FILES = 5
const MAX_FILE_BYTES = 5 * 1024 * 1024
/** Larger photos are made smaller before they are sent, to save data. */
const RESIZE_ABOVE_BYTES = 1_000_000
const MAX_PHOTO_SIDE_PIXELS = 2000
const UPLOAD_TIMEOUT_MS = 240_000

/** Photos and documents that prove an item. They are stored as soon as they are chosen. */
export function ItemFiles({ files, item, isFull, token, call, pageTexts, onChange }: Props) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  return (
    <div class="item-files small stack-tight">
      {files.map((file) => (
        <div class="row between" key={file.fileId}>
          <span dir="auto">{file.name}</span>
          <button type="button" class="plain" disabled={busy} onClick={() => void remove(file)}>
            {pageTexts.removeFile}
            <span class="hidden-text"> {file.name}</span>
          </button>
        </div>
      ))}
      {item && isFull && <p class="soft">{pageTexts.errors.TOO_MANY_FILES}</p>}
      {item && !isFull && (
        <label>
          {pageTexts.addFile}
          <span class="soft hint">{pageTexts.addFileHint}</span>
          <input
            type="file"
            accept="image/jpeg,image/png,image/webp,application/pdf"
            disabled={busy}
            onChange={(event) => void add(item, event.currentTarget)}
          />
        </label>
      )}
      <p aria-live="polite">{busy ? pageTexts.saving : ''}</p>
      {error && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
    </div>
  )

  async function add(source: SourceItem, input: HTMLInputElement) {
    const [chosen] = input.files ?? []
    if (!chosen) return
    setBusy(true)
    setError(undefined)
    try {
      const blob = await shrinkPhoto(chosen)
      if (blob.size > MAX_FILE_BYTES) setError(pageTexts.errors.PAYLOAD_TOO_LARGE)
      else await upload(source, chosen.name, await toBase64(blob))
    } catch {
      // The file was moved or deleted, or its app does not hand it over.
      setError(pageTexts.unreadableFile)
    } finally {
      input.value = ''
      setBusy(false)
    }
  }

  async function upload(source: SourceItem, name: string, content: string) {
    const body = { sourceType: sourceTypeOf(source), externalId: source.id, name: name.slice(-200), content }
    const result = await call<ProofFile>(paths.sessionFiles(token), { body, timeoutMs: UPLOAD_TIMEOUT_MS })
    if (result.ok) onChange(({ proofFiles }) => ({ proofFiles: [...proofFiles, result.data] }))
    else setError(errorText(pageTexts, result))
  }

  async function remove({ fileId }: ProofFile) {
    setBusy(true)
    setError(undefined)
    const result = await call(paths.sessionFile(token, fileId), { method: 'DELETE' })
    setBusy(false)
    if (result.ok) {
      onChange(({ proofFiles }) => ({ proofFiles: proofFiles.filter((file) => file.fileId !== fileId) }))
    } else setError(errorText(pageTexts, result))
  }
}

/** Returns a smaller JPEG image of a large photo, or the file itself if the browser cannot read it. */
async function shrinkPhoto(file: File): Promise<Blob> {
  if (!file.type.startsWith('image/') || file.size <= RESIZE_ABOVE_BYTES) return file
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, MAX_PHOTO_SIDE_PIXELS / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(bitmap.width * scale)
    canvas.height = Math.round(bitmap.height * scale)
    canvas.getContext('2d')!.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    const smaller = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
    return smaller && smaller.size < file.size ? smaller : file
  } catch {
    return file
  }
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}
