import { useState } from 'preact/hooks'
import type { ProviderRedirect } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { type ApiError, api } from './api.ts'

interface Props {
  provider: { provider_id: string; name: string }
  /** Whether the provider must authenticate the person again. */
  fresh?: boolean
  onError: (error: ApiError) => void
}

/** Opens the page of an identity provider, which returns to the current page. */
export function ProviderButton({ provider, fresh = false, onError }: Props) {
  const [busy, setBusy] = useState(false)
  return (
    <button type="button" class="primary" disabled={busy} onClick={() => void open()}>
      {fresh
        ? t('Sign in again with {name}', { name: provider.name })
        : t('Sign in with {name}', { name: provider.name })}
    </button>
  )

  async function open() {
    setBusy(true)
    const response = await api<ProviderRedirect>('/sign-in/provider', {
      body: { provider_id: provider.provider_id, return_to: location.pathname + location.search, fresh },
    })
    if (response.ok) return location.assign(response.data.url)
    setBusy(false)
    onError(response.error)
  }
}
