import { useState } from 'preact/hooks'
import type { ChannelOverview, DndCheck as DndCheckRecord, NewDndCheck } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useOrgContext } from '../shell/session.ts'

interface Props {
  check: DndCheckRecord | null
  onChanged: (overview: ChannelOverview) => void
}

/** The service of the organisation that checks LIVE phone numbers against a do-not-disturb list before the first contact. */
export function DndCheck({ check, onChanged }: Props) {
  const context = useOrgContext()
  const path = `/orgs/${context.org.org_id}/dnd-check`
  const isOwner = context.can('owner')
  const [editing, setEditing] = useState(false)
  const [removing, setRemoving] = useState(false)
  const [secret, setSecret] = useState<string>()
  return (
    <section class="card stack" aria-label={t('Do-not-disturb check')}>
      <p>
        {t(
          'Before the first contact, a service of your organisation can check each LIVE phone number. Candidates with a blocked number are not contacted, and their credit is refunded.',
        )}
      </p>
      {check && (
        <p>
          {richText('The numbers are sent to {url}.', { url: <code>{check.url}</code> })}{' '}
          {check.last_success_at && richText('Last check: {time}.', { time: <Time at={check.last_success_at} /> })}
        </p>
      )}
      {check?.failing_since && (
        <Notice kind="bad">
          {richText(
            'The service has failed since {time}: {lastError} New candidates are not contacted until it responds. Repair it or remove the check.',
            { time: <Time at={check.failing_since} />, lastError: check.last_error },
          )}
        </Notice>
      )}
      {isOwner && !editing && (
        <div class="row">
          <button type="button" onClick={() => setEditing(true)}>
            {check ? t('Replace the check') : t('Set up a check')}
          </button>
          {check && (
            <button type="button" onClick={() => setRemoving(true)}>
              {t('Remove the check')}
            </button>
          )}
        </div>
      )}
      {editing && (
        <DndCheckForm
          path={path}
          onClose={() => setEditing(false)}
          onSaved={({ overview, secret }) => {
            setEditing(false)
            setSecret(secret)
            onChanged(overview)
          }}
        />
      )}
      {secret && (
        <Dialog title={t('Copy your secret now')} onClose={() => setSecret(undefined)}>
          <p>
            {t('This secret signs every request to your service, like the events of a webhook. It is shown only once.')}
          </p>
          <CopyText text={secret} label={t('the secret')} />
        </Dialog>
      )}
      {removing && (
        <Confirm
          title={t('Remove the do-not-disturb check?')}
          action={t('Remove check')}
          onClose={() => setRemoving(false)}
          act={async () => {
            const response = await api<ChannelOverview>(path, { method: 'DELETE' })
            if (response.ok) onChanged(response.data)
            return response
          }}
          onDone={() => {}}
        >
          <p>{t('Candidates who wait for the check are contacted without it.')}</p>
        </Confirm>
      )}
    </section>
  )
}

interface FormProps {
  path: string
  onClose: () => void
  onSaved: (result: NewDndCheck) => void
}

function DndCheckForm({ path, onClose, onSaved }: FormProps) {
  const [url, setUrl] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = error?.details.find(({ path }) => path === 'url')?.message
  return (
    <form class="stack" noValidate onSubmit={(event) => void save(event)}>
      <Field
        id="dnd-check-url"
        label={t('URL of the service')}
        hint={t('An https URL. The guide “Set up channels” describes the requests.')}
        error={fieldError}
      >
        {(attributes) => (
          <input {...attributes} type="url" value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
        )}
      </Field>
      {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
      <div class="row">
        <SubmitButton class="primary" busy={busy}>
          {t('Save check')}
        </SubmitButton>
        <button type="button" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<NewDndCheck>(path, { method: 'PUT', body: { url } })
    setBusy(false)
    if (response.ok) onSaved(response.data)
    else setError(response.error)
  }
}
