import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { SubmitButton } from '../../ui/submit-button.tsx'
import type { ApiResponse } from '../shell/api.ts'
import './file-import-form.css'

interface Props<T> {
  /** The name of the form for screen readers. */
  name: string
  fileLabel: string
  /** The endings of file names that the file dialog offers, such as `.csv,.xml`. */
  accept: string
  /** Sends the file; with `dryRun`, it is only checked. */
  upload: (file: File, dryRun: boolean) => Promise<ApiResponse<T>>
  onResponse: (response: ApiResponse<T>, dryRun: boolean) => void
  /** Called when another file is chosen, to remove the outcome of the last one. */
  onSelect?: () => void
  /** Further fields. */
  children?: ComponentChildren
}

/** Form to check a file and to import it. */
export function FileImportForm<T>({ name, fileLabel, accept, upload, onResponse, onSelect, children }: Props<T>) {
  const [file, setFile] = useState<File>()
  const [busy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const buttonState = { type: 'button', busy, ready: Boolean(file) } as const
  return (
    <form class="card file-import" aria-label={name} onSubmit={(event) => event.preventDefault()}>
      <label>
        {fileLabel}
        <input
          ref={input}
          type="file"
          accept={accept}
          onChange={(event) => {
            setFile(event.currentTarget.files?.[0])
            onSelect?.()
          }}
        />
      </label>
      {children}
      <div class="row">
        <SubmitButton {...buttonState} onClick={() => void send(true)}>
          {t('Check file')}
        </SubmitButton>
        <SubmitButton {...buttonState} class="primary" onClick={() => void send(false)}>
          {t('Import')}
        </SubmitButton>
      </div>
    </form>
  )

  async function send(dryRun: boolean) {
    setBusy(true)
    const response = await upload(file!, dryRun)
    setBusy(false)
    if (response.ok && !dryRun) {
      if (input.current) input.current.value = ''
      setFile(undefined)
    }
    onResponse(response, dryRun)
  }
}

/** Returns the query parameters of an upload that all imports have. */
export function uploadParameters({ name }: File, dryRun: boolean): Record<string, string> {
  return { file_name: name.slice(-MAX_FILE_NAME_LENGTH), dry_run: String(dryRun) }
}

const MAX_FILE_NAME_LENGTH = 200
