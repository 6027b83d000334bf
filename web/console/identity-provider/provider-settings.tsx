import { useState } from 'preact/hooks'
import type { IdentityProvider, IdentityProviderSettings, NewScimToken } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Time } from '../../ui/time.tsx'
import { Confirm } from '../shared/confirm.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'

interface Props {
  /** API path of the settings. */
  path: string
  /** The roles that groups can be mapped to, highest first. */
  roles: string[]
}

/** The settings of an identity provider: of an organisation or of the operators. */
export function ProviderSettings({ path, roles }: Props) {
  const settings = useData<IdentityProviderSettings>(path)
  const [removing, setRemoving] = useState(false)
  const [saved, setSaved] = useState(false)
  const { data } = settings
  return (
    <>
      {settings.error && <Notice kind="bad">{settings.error.message}</Notice>}
      {data && (
        <>
          <div class="card stack">
            <p>
              {t(
                'Register Attestry at the identity provider as a web application (authorization code flow with PKCE), with this redirect URI:',
              )}
            </p>
            <CopyText text={data.redirect_uri} label={t('the redirect URI')} />
            {data.provider && (
              <p>
                {richText('People sign in at {link}.', { link: <a href={data.sign_in_url}>{data.sign_in_url}</a> })}
              </p>
            )}
          </div>
          <ProviderForm
            key={data.provider?.updated_at ?? ''}
            path={path}
            roles={roles}
            provider={data.provider}
            onSaved={(next) => {
              settings.set(next)
              setSaved(true)
            }}
          />
          {saved && <Notice kind="good">{t('Saved.')}</Notice>}
          {data.provider && data.scim_url && (
            <ScimSettings path={path} settings={data} onChanged={() => void settings.reload()} />
          )}
          {data.provider && (
            <p>
              <button type="button" class="danger" onClick={() => setRemoving(true)}>
                {t('Remove the identity provider')}
              </button>
            </p>
          )}
        </>
      )}
      {removing && (
        <Confirm
          title={t('Remove the identity provider?')}
          action={t('Remove')}
          onClose={() => setRemoving(false)}
          act={() => api(path, { method: 'DELETE' })}
          onDone={() => void settings.reload()}
        >
          <p>{t('Everyone who signed in with it is signed out, and signs in by email from now on.')}</p>
        </Confirm>
      )}
    </>
  )
}

interface ScimProps {
  path: string
  settings: IdentityProviderSettings
  onChanged: () => void
}

/** The token with which the provider creates and deactivates members (SCIM). */
function ScimSettings({ path, settings: { scim_url, scim_token }, onChanged }: ScimProps) {
  const [token, setToken] = useState<string>()
  const [error, setError] = useState<ApiError>()
  return (
    <div class="card stack">
      <h2>{t('Provisioning (SCIM 2.0)')}</h2>
      <p>
        {richText(
          'With SCIM, the identity provider creates members and deactivates them at once, without waiting for their next sign-in. Its base URL is {url}.',
          { url: <code class="break">{scim_url}</code> },
        )}
      </p>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {token && (
        <Notice kind="good">
          {richText('Enter this token at the identity provider. It is not shown again: {token}', {
            token: <code class="break">{token}</code>,
          })}
        </Notice>
      )}
      {scim_token && (
        <p class="soft">
          {richText('A token was created {createdAt}; last used {lastUsedAt}.', {
            createdAt: <Time at={scim_token.created_at} />,
            lastUsedAt: <Time at={scim_token.last_used_at} />,
          })}
        </p>
      )}
      <p class="row">
        <button type="button" onClick={() => void createToken()}>
          {scim_token ? t('Replace the token') : t('Create a token')}
        </button>
        {scim_token && (
          <button type="button" class="danger" onClick={() => void revokeToken()}>
            {t('Revoke the token')}
          </button>
        )}
      </p>
    </div>
  )

  async function createToken() {
    const response = await api<NewScimToken>(`${path}/scim-token`, { method: 'POST' })
    setError(response.ok ? undefined : response.error)
    if (response.ok) setToken(response.data.token)
    onChanged()
  }

  async function revokeToken() {
    const response = await api(`${path}/scim-token`, { method: 'DELETE' })
    setError(response.ok ? undefined : response.error)
    setToken(undefined)
    onChanged()
  }
}

const TEXT_FIELDS = [
  ['name', t('Name on the sign-in button'), t('For example “Metro ID”.')],
  ['issuer', t('Issuer'), t('The URL below which /.well-known/openid-configuration is found.')],
  ['client_id', t('Client ID'), ''],
] as const
type FieldName = (typeof TEXT_FIELDS)[number][0]

const ROLE_NAMES: Record<string, string> = {
  owner: t('owner'),
  recruiter: t('recruiter'),
  viewer: t('viewer'),
  operator: t('operator'),
}

interface FormProps extends Props {
  provider: IdentityProvider | null
  onSaved: (settings: IdentityProviderSettings) => void
}

function ProviderForm({ path, roles, provider, onSaved }: FormProps) {
  const [values, setValues] = useState<Record<FieldName, string>>({
    name: provider?.name ?? '',
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
  })
  const [secret, setSecret] = useState('')
  const [domains, setDomains] = useState(provider?.allowed_domains.join('\n') ?? '')
  const [groupClaim, setGroupClaim] = useState(provider?.group_claim ?? 'groups')
  const [groups, setGroups] = useState<Record<string, string>>(() => groupsByRole(roles, provider))
  const [defaultRole, setDefaultRole] = useState(provider?.default_role ?? '')
  const [required, setRequired] = useState(provider?.required ?? false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const errorOf = (name: string) => error?.details.find(({ path: field }) => field.startsWith(name))?.message
  const isShownAtField = error !== undefined && error.details.length > 0
  return (
    <form class="card stack" noValidate onSubmit={(event) => void save(event)}>
      {TEXT_FIELDS.map(([name, label, hint]) => (
        <Field key={name} id={`provider-${name}`} label={label} hint={hint} error={errorOf(name)}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={values[name]}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <Field
        id="provider-secret"
        label={t('Client secret')}
        hint={
          provider?.has_client_secret
            ? t('A secret is stored. Leave the field empty to keep it.')
            : t('Stored encrypted.')
        }
        error={errorOf('client_secret')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autoComplete="off"
            value={secret}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field
        id="provider-domains"
        label={t('Domains of email addresses')}
        hint={t('One per line. Addresses of other domains are rejected.')}
        error={errorOf('allowed_domains')}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            value={domains}
            onInput={(event) => setDomains(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field
        id="provider-claim"
        label={t('Claim with the groups')}
        hint={t('The name of the claim in the ID token or the UserInfo response.')}
        error={errorOf('group_claim')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            value={groupClaim}
            onInput={(event) => setGroupClaim(event.currentTarget.value)}
          />
        )}
      </Field>
      {roles.map((role) => (
        <Field
          key={role}
          id={`provider-groups-${role}`}
          label={t('Groups with the role {role}', { role: ROLE_NAMES[role] ?? role })}
          hint={t('One per line.')}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              rows={2}
              value={groups[role]}
              onInput={(event) => setGroups({ ...groups, [role]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <Field id="provider-default" label={t('People without one of these groups')} error={errorOf('default_role')}>
        {(attributes) => (
          <select {...attributes} value={defaultRole} onChange={(event) => setDefaultRole(event.currentTarget.value)}>
            <option value="">{t('cannot sign in')}</option>
            {roles.map((role) => (
              <option key={role} value={role}>
                {t('get the role {role}', { role: ROLE_NAMES[role] ?? role })}
              </option>
            ))}
          </select>
        )}
      </Field>
      <label class="check">
        <input type="checkbox" checked={required} onChange={(event) => setRequired(event.currentTarget.checked)} />
        {t('Require this identity provider: nobody can sign in by email')}
      </label>
      {errorOf('required') && <Notice kind="bad">{t('“Require” {problem}.', { problem: errorOf('required') })}</Notice>}
      {error && !isShownAtField && <Notice kind="bad">{error.message}</Notice>}
      <SubmitButton class="primary" busy={busy} ready={Object.values(values).every((value) => value.trim() !== '')}>
        {t('Save')}
      </SubmitButton>
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<IdentityProviderSettings>(path, {
      method: 'PUT',
      body: {
        name: values.name.trim(),
        issuer: values.issuer.trim(),
        client_id: values.client_id.trim(),
        ...(secret === '' ? {} : { client_secret: secret }),
        allowed_domains: linesOf(domains),
        group_claim: groupClaim.trim() || 'groups',
        role_mappings: roles.flatMap((role) => linesOf(groups[role] ?? '').map((group) => ({ group, role }))),
        default_role: defaultRole || null,
        required,
      },
    })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (response.ok) onSaved(response.data)
  }
}

function groupsByRole(roles: string[], provider: IdentityProvider | null): Record<string, string> {
  const groupsOf = (role: string) =>
    (provider?.role_mappings ?? []).filter((mapping) => mapping.role === role).map(({ group }) => group)
  return Object.fromEntries(roles.map((role) => [role, groupsOf(role).join('\n')]))
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}
