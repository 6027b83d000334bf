import { useState } from 'preact/hooks'
import type { CredentialKey, CredentialKeys, CredentialPolicy } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Day } from '../../ui/time.tsx'
import { Unloaded } from '../../ui/unloaded.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { MODE_NAMES } from '../shared/mode-names.ts'
import '../shared/forms.css'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

/** The policy and the signing keys. Only owners can change them. */
export function CredentialSettings() {
  const context = useOrgContext()
  const policyPath = `/orgs/${context.org.org_id}/credential-policy`
  const keysPath = context.apiPath('/credential-keys')
  const policy = useData<CredentialPolicy>(policyPath)
  const keys = useData<CredentialKeys>(keysPath)
  const isOwner = context.can('owner')
  return (
    <>
      <h2>{t('Policy')}</h2>
      {policy.error && <Notice kind="bad">{policy.error.message}</Notice>}
      {!policy.data && !policy.error && <Unloaded />}
      {policy.data &&
        (isOwner ? (
          <PolicyForm path={policyPath} policy={policy.data} onSaved={policy.set} />
        ) : (
          <p>
            {policy.data.credentials_enabled
              ? t('Credentials are offered, and are valid for {months} months.', {
                  months: policy.data.credential_validity_months,
                })
              : t('Credentials are not offered.')}
          </p>
        ))}
      <h2>{t('Signing keys')}</h2>
      <p class="soft">
        {richText(
          'These keys sign {mode} credentials. Verifiers find them under the identifier (DID) of your organisation.',
          { mode: <strong>{MODE_NAMES[context.mode]}</strong> },
        )}
      </p>
      {keys.error && <Notice kind="bad">{keys.error.message}</Notice>}
      {!keys.data && !keys.error && <Unloaded />}
      {keys.data && (
        <>
          <CopyText text={keys.data.did} label={t('DID')} />
          <KeyTable path={keysPath} keys={keys.data.keys} isOwner={isOwner} onChanged={() => void keys.reload()} />
        </>
      )}
    </>
  )
}

interface PolicyProps {
  path: string
  policy: CredentialPolicy
  onSaved: (policy: CredentialPolicy) => void
}

function PolicyForm({ path, policy, onSaved }: PolicyProps) {
  const [enabled, setEnabled] = useState(policy.credentials_enabled)
  const [months, setMonths] = useState(String(policy.credential_validity_months))
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  const fieldError = error?.details.find(({ path: field }) => field === 'credential_validity_months')?.message
  return (
    <form class="card stack narrow" noValidate onSubmit={(event) => void save(event)}>
      <label class="check">
        <input type="checkbox" checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
        {t('Offer credentials for verified skills')}
      </label>
      <Field
        id="credential-months"
        label={t('Validity in months')}
        hint={t('Applies to credentials that are issued from now on.')}
        error={fieldError}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={1}
            max={120}
            value={months}
            onInput={(event) => setMonths(event.currentTarget.value)}
          />
        )}
      </Field>
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      {saved && <Notice kind="good">{t('Policy saved.')}</Notice>}
      <SubmitButton busy={busy}>{t('Save policy')}</SubmitButton>
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setSaved(false)
    setError(undefined)
    const response = await api<CredentialPolicy>(path, {
      method: 'PUT',
      body: { credentials_enabled: enabled, credential_validity_months: Number(months) },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    setSaved(true)
    onSaved(response.data)
  }
}

interface KeyTableProps {
  path: string
  keys: CredentialKey[]
  isOwner: boolean
  onChanged: () => void
}

function KeyTable({ path, keys, isOwner, onChanged }: KeyTableProps) {
  const [isRotating, setIsRotating] = useState(false)
  const [revoking, setRevoking] = useState<CredentialKey>()
  return (
    <>
      <Table
        caption={t('Signing keys, newest first')}
        rows={keys}
        keyOf={({ key_id }) => key_id}
        empty={<p class="soft">{t('The first key is created with the first credential.')}</p>}
        columns={[
          { name: t('Key'), cell: ({ name }) => <code>{name}</code> },
          { name: t('Status'), cell: ({ status }) => <Badge state={status} /> },
          { name: t('Created'), cell: ({ created_at }) => <Day of={created_at} /> },
          { name: t('Retired'), cell: ({ retired_at }) => (retired_at ? <Day of={retired_at} /> : '–') },
          { name: t('Revoked'), cell: ({ revoked_at }) => (revoked_at ? <Day of={revoked_at} /> : '–') },
          ...(isOwner
            ? [
                {
                  name: t('Actions'),
                  cell: (key: CredentialKey) => (
                    <span class="row">
                      {key.status === 'active' && (
                        <button type="button" class="plain flush" onClick={() => setIsRotating(true)}>
                          {t('Rotate')}
                        </button>
                      )}
                      {key.status !== 'revoked' && (
                        <button type="button" class="plain flush" onClick={() => setRevoking(key)}>
                          {t('Revoke')}
                        </button>
                      )}
                    </span>
                  ),
                },
              ]
            : []),
        ]}
      />
      {isRotating && (
        <Confirm
          title={t('Rotate the signing key?')}
          action={t('Rotate key')}
          onClose={() => setIsRotating(false)}
          act={() => api(`${path}/rotate`, { body: {} })}
          onDone={onChanged}
        >
          <p>{t('A new key signs credentials from now on. Credentials signed with the old key stay valid.')}</p>
        </Confirm>
      )}
      {revoking && (
        <Confirm
          title={t('Revoke {name}?', { name: revoking.name })}
          action={t('Revoke key')}
          onClose={() => setRevoking(undefined)}
          act={() => api(`${path}/${revoking.key_id}/revoke`, { body: {} })}
          onDone={onChanged}
        >
          <p>
            {t(
              'Revoke a key only if its secret may have leaked. All credentials that it signed become invalid. Those that their holders still want are issued again with a new key, at new addresses. This cannot be undone.',
            )}
          </p>
        </Confirm>
      )}
    </>
  )
}
