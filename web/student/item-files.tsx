import { useState } from 'preact/hooks'
import type { ProofFile, VerificationSession } from '../api-types/verification.ts'
import { paths } from '../paths.ts'
import type { SessionCall, SourceItem } from './session.ts'
import { errorText, type StudentTexts } from './texts.ts'

interface Props {
  session: VerificationSession
  item: SourceItem
  token: string
  call: SessionCall
  pageTexts: StudentTexts
  onChange: (change: Partial<VerificationSession>) => void
}

const SOURCE_TYPES = { workExperienceIds: 'experience', projectIds: 'project', credentialIds: 'certificate' } as const
const MAX_FILES = 5
const MAX_FILE_BYTES = 5 * 1024 * 1024
/** Larger photos are made smaller before they are sent, to save data. */
const MAX_PHOTO_BYTES = 1_000_000
const MAX_PHOTO_PIXELS = 2000
const UPLOAD_TIMEOUT_MS = 240_000

/** Photos and documents that prove an item. They are stored as soon as they are chosen. */
export function ItemFiles({ session, item, token, call, pageTexts, onChange }: Props) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const sourceType = SOURCE_TYPES[item.kind]
  const files = session.proofFiles.filter((file) => file.sourceType === sourceType && file.externalId === item.id)
  const isFull = session.proofFiles.length >= MAX_FILES
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
      {isFull ? (
        <p class="soft">{pageTexts.errors.TOO_MANY_FILES}</p>
      ) : (
        <label>
          {pageTexts.addFile}
          <span class="soft hint">{pageTexts.addFileHint}</span>
          <input
            type="file"
            accept="image/jpeg,image/png,image/webp,application/pdf"
            disabled={busy}
            onChange={(event) => void add(event.currentTarget)}
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

  async function add(input: HTMLInputElement) {
    const [chosen] = input.files ?? []
    if (!chosen) return
    setBusy(true)
    setError(undefined)
    const blob = await shrinkPhoto(chosen)
    if (blob.size > MAX_FILE_BYTES) setError(pageTexts.errors.PAYLOAD_TOO_LARGE)
    else {
      const body = { sourceType, externalId: item.id, name: chosen.name.slice(-200), content: await toBase64(blob) }
      const result = await call<ProofFile>(paths.sessionFiles(token), { body, timeoutMs: UPLOAD_TIMEOUT_MS })
      if (result.ok) onChange({ proofFiles: [...session.proofFiles, result.data] })
      else setError(errorText(pageTexts, result))
    }
    input.value = ''
    setBusy(false)
  }

  async function remove({ fileId }: ProofFile) {
    setBusy(true)
    setError(undefined)
    const result = await call(paths.sessionFile(token, fileId), { method: 'DELETE' })
    setBusy(false)
    if (result.ok) onChange({ proofFiles: session.proofFiles.filter((file) => file.fileId !== fileId) })
    else setError(errorText(pageTexts, result))
  }
}

/** Returns a smaller JPEG image of a large photo, or the file itself if the browser cannot read it. */
async function shrinkPhoto(file: File): Promise<Blob> {
  if (!file.type.startsWith('image/') || file.size <= MAX_PHOTO_BYTES) return file
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, MAX_PHOTO_PIXELS / Math.max(bitmap.width, bitmap.height))
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
