import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import '../shared/forms.css'
import { useState } from 'preact/hooks'
import type { AtsConnection, AtsSystem, AtsSystemList, CreatedAtsConnection } from '../../api-types/console.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { MandatePicker } from './mandate-picker.tsx'

type Credential = AtsSystem['credentials'][number]

const DEFAULT_CONSENT_BASIS = 'The candidate agreed to be contacted when they applied.'

interface ConnectProps {
  /** The connection to edit; undefined creates a new one. */
  connection?: AtsConnection
  onClose: () => void
  onSaved: (connection: CreatedAtsConnection) => void
}

/** The first step: the ATS, its credential, and what is stored with every order. */
export function ConnectForm({ connection, onClose, onSaved }: ConnectProps) {
  const context = useOrgContext()
  const systems = useData<AtsSystemList>(context.apiPath('/ats/systems'))
  const [adapter, setAdapter] = useState<AtsSystem['adapter']>(connection?.adapter ?? 'greenhouse')
  const [name, setName] = useState(connection?.name ?? '')
  const [credentials, setCredentials] = useState<Partial<Record<Credential['name'], string>>>({})
  const [apiUrl, setApiUrl] = useState(connection?.api_url ?? '')
  const [country, setCountry] = useState(connection?.country ?? 'IN')
  const [consentBasis, setConsentBasis] = useState(connection?.consent_basis ?? DEFAULT_CONSENT_BASIS)
  const [mandateIds, setMandateIds] = useState<string[] | null>(connection?.mandate_ids ?? null)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const system = systems.data?.items.find((each) => each.adapter === adapter)
  const errorAt = (path: string) => error?.details.find((each) => each.path.startsWith(path))?.message
  const hasCredentials =
    connection || system?.credentials.every(({ name, required }) => !required || credentials[name]?.trim())
  const isReady = Boolean(system && consentBasis.trim() && country.trim() && hasCredentials && mandateIds?.length !== 0)
  return (
    <Dialog title={connection ? t('Edit connection') : t('Connect an ATS')} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void save(event)}>
        {error && error.details.length === 0 && <Notice kind="bad">{error.message}</Notice>}
        {!connection && (
          <fieldset>
            <legend>{t('ATS')}</legend>
            <div class="choices">
              {systems.data?.items.map((each) => (
                <label class="choice" key={each.adapter}>
                  <input
                    type="radio"
                    name="adapter"
                    checked={adapter === each.adapter}
                    onChange={() =>
                      change(() => {
                        setAdapter(each.adapter)
                        setApiUrl('')
                      })
                    }
                  />
                  {each.title}
                </label>
              ))}
            </div>
          </fieldset>
        )}
        {system?.credentials.map((credential) => (
          <Field
            key={credential.name}
            id={`ats-${credential.name}`}
            label={
              credential.required || connection
                ? credential.label
                : t('{label} (can be entered later)', { label: credential.label })
            }
            hint={
              connection
                ? t('{help} Leave empty to keep the current one.', { help: toSentence(credential.help) })
                : toSentence(credential.help)
            }
            error={errorAt(credential.name)}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="password"
                autocomplete="off"
                value={credentials[credential.name] ?? ''}
                onInput={(event) => {
                  const { value } = event.currentTarget
                  change(() => setCredentials({ ...credentials, [credential.name]: value }))
                }}
              />
            )}
          </Field>
        ))}
        {system?.api_url && (
          <Field
            id="ats-api-url"
            label={t('{title} API URL (optional)', { title: system.title })}
            hint={t('{help} If empty, {defaultUrl} is used.', {
              help: toSentence(system.api_url.help),
              defaultUrl: system.api_url.default,
            })}
            error={errorAt('api_url')}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="url"
                autocomplete="off"
                value={apiUrl}
                onInput={(event) => {
                  const { value } = event.currentTarget
                  change(() => setApiUrl(value))
                }}
              />
            )}
          </Field>
        )}
        <Field
          id="ats-name"
          label={t('Name (optional)')}
          hint={t('Distinguishes several connections.')}
          error={errorAt('name')}
        >
          {(attributes) => (
            <input {...attributes} type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Field
          id="ats-country"
          label={t('Country of phone numbers')}
          hint={t('Two letters, such as IN. Used for phone numbers without a country code.')}
          error={errorAt('country')}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={2}
              value={country}
              onInput={(event) => change(() => setCountry(event.currentTarget.value))}
            />
          )}
        </Field>
        <Field
          id="ats-consent"
          label={t('Why you may contact the candidates')}
          hint={t('Stored with every order.')}
          error={errorAt('consent_basis')}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={2}
              value={consentBasis}
              onInput={(event) => change(() => setConsentBasis(event.currentTarget.value))}
            />
          )}
        </Field>
        <MandatePicker
          chosen={mandateIds}
          error={errorAt('mandate_ids')}
          onChange={(ids) => change(() => setMandateIds(ids))}
        />
        <SubmitButton class="primary" busy={busy} ready={isReady}>
          {connection ? t('Save') : t('Connect')}
        </SubmitButton>
      </form>
    </Dialog>
  )

  function change(update: () => void) {
    setError(undefined)
    update()
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const path = context.apiPath(`/ats/connections${connection ? `/${connection.connection_id}` : ''}`)
    const response = await api<CreatedAtsConnection>(path, {
      method: connection ? 'PUT' : 'POST',
      body: {
        ...(connection ? {} : { adapter }),
        name: name.trim() || system!.title,
        country: country.trim(),
        consent_basis: consentBasis.trim(),
        ...Object.fromEntries(
          system!.credentials.flatMap(({ name: field }) => {
            const value = credentials[field]?.trim()
            return value ? [[field, value]] : []
          }),
        ),
        // Without a change, so that a connection with the default URL follows it, and the name can be changed without checking the URL.
        ...(system!.api_url && apiUrl.trim() !== (connection?.api_url ?? '')
          ? { api_url: apiUrl.trim() || system!.api_url.default }
          : {}),
        mandate_ids: mandateIds,
      },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onSaved(response.data)
  }
}

function toSentence(help: string): string {
  return `${help[0]!.toUpperCase()}${help.slice(1)}.`
}

/** Shows a new key, which cannot be read again later. */
export function ConnectionKey({ connection, onClose }: { connection: CreatedAtsConnection; onClose: () => void }) {
  if (connection.key === null) return null // the ATS signs its calls
  return (
    <Dialog title={t('Copy your key now')} onClose={onClose}>
      <p>
        {richText(
          '{title} sends this key with every call. It is shown only once. Open the connection {name} for the next step.',
          { title: connection.title, name: <strong>{connection.name}</strong> },
        )}
      </p>
      <CopyText text={connection.key} label={t('the key')} />
    </Dialog>
  )
}
