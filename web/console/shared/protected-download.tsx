import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

interface Props {
  /** Path of the file. Its route requires a recent sign-in. */
  href: string
  primary?: boolean
  children: ComponentChildren
}

/** Downloads a file. If the user signed in more than 15 minutes ago, asks for a code first. */
export function ProtectedDownload({ href, primary = false, children }: Props) {
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  return (
    <>
      <SubmitButton type="button" class={primary ? 'primary' : ''} busy={busy} onClick={() => void download()}>
        {children}
      </SubmitButton>
      {error && <Notice kind="bad">{error.message}</Notice>}
    </>
  )

  async function download() {
    setBusy(true)
    const response = await api('/confirmation')
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    const link = document.createElement('a')
    link.href = href
    link.download = ''
    link.click()
  }
}
