import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, SignInOptions } from '../../api-types/console.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from './api.ts'
import { LanguageChoice } from './language-choice.tsx'
import { supportsPasskeys, usePasskey } from './passkeys.ts'
import { ProviderButton } from './provider-button.tsx'

/** Returns the token of a sign-in link in the address. */
export function readSignInToken(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('token')
}

/** Returns the organisation in the address: of a page that requires a sign-in, or of its sign-in page (`?org=`). */
function readOrganisation(): string | undefined {
  return /ORG_[0-9A-Z]{26}/.exec(location.pathname + location.search)?.[0]
}

/** Returns the organisation that the link in the address invites to. */
export function readInvitingOrganisation(): string | null {
  return new URLSearchParams(location.search).get('invitation')
}

/** Texts for the failures of a sign-in with an identity provider, which the server puts into the address. */
const FAILURES: Record<string, string> = {
  expired: t('The sign-in took too long, or was started in another browser. Try again.'),
  denied: t('The identity provider did not sign you in.'),
  unreachable: t('The identity provider cannot be reached. Try again later, or sign in by email.'),
  invalid_response: t(
    'The response of the identity provider is not valid. Try again; if it fails again, ask an owner to read the audit log.',
  ),
  other_provider: t(
    'The response came from another identity provider than the one that you chose. Start again on the sign-in page of your organisation.',
  ),
  email_missing: t('The identity provider sent no email address. Ask your administrator to add the claim “email”.'),
  email_unverified: t(
    'The identity provider has not verified your email address. Verify it there, or ask your administrator.',
  ),
  domain_not_allowed: t('Your email address does not belong to a domain that this organisation allows.'),
  account_changed: t(
    'Another account of the identity provider has your email address. Ask an owner to remove the former member.',
  ),
  deactivated: t('Your account is deactivated at the identity provider.'),
  operator_removed: t('You were removed as an operator. Ask another operator to add you again.'),
  no_role: t('None of your groups gives you access to this organisation. Ask your administrator.'),
}

function readFailure(): string | undefined {
  return FAILURES[new URLSearchParams(location.hash.slice(1)).get('failure') ?? '']
}

interface Props {
  onSession: (session: ConsoleSession) => void
  /** The page that ends the session at the identity provider, after a sign-out. */
  providerSignOutUrl?: string | undefined
}

export function SignIn({ onSession, providerSignOutUrl }: Props) {
  const [options, setOptions] = useState<SignInOptions>()
  const [failure] = useState(readFailure)
  const invitingOrgId = readInvitingOrganisation()
  /** The token of a link whose person has an authenticator app. */
  const [pendingToken, setPendingToken] = useState<string>()
  const [code, setCode] = useState('')
  const [email, setEmail] = useState('')
  const [emailRequested, setEmailRequested] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    const org = readOrganisation()
    void api<SignInOptions>(org ? `/sign-in?org=${org}` : '/sign-in').then(
      (response) => response.ok && setOptions(response.data),
    )
    const consumeToken = () => {
      const token = readSignInToken()
      if (!token) return
      history.replaceState(null, '', location.pathname + location.search) // remove the sign-in token from the address
      void signInWithLink(token)
    }
    consumeToken()
    addEventListener('hashchange', consumeToken) // a link that is opened on this page
    return () => removeEventListener('hashchange', consumeToken)
  }, [])

  const codeError = error?.details.some(({ path }) => path === 'code')
    ? t('This code is wrong or was already used.')
    : undefined
  return (
    <main class="sheet sign-in stack">
      <div class="row between">
        <a class="wordmark home-link" href="/">
          Attestry
        </a>
        {/* A new language loads the page again, without the token of the link. */}
        {!pendingToken && <LanguageChoice />}
      </div>
      <h1>{t('Sign in to the console')}</h1>
      {error && !codeError && (
        <Notice kind="bad">
          {invitingOrgId && error.code === 'UNAUTHORIZED'
            ? t(
                'This invitation has expired, was already used, or was replaced by a newer one. If you are a member, sign in with your email address. Otherwise, ask an owner of your organisation to send the invitation again.',
              )
            : error.message}
        </Notice>
      )}
      {!error && failure && <Notice kind="bad">{failure}</Notice>}
      {providerSignOutUrl && (
        <Notice kind="good">
          {richText('You are signed out of Attestry. <link>Sign out of the identity provider, too</link>', {
            link: (words) => <a href={providerSignOutUrl}>{words}</a>,
          })}
        </Notice>
      )}
      {options?.providers
        .filter(({ for_operators }) => !for_operators)
        .map((provider) => (
          <ProviderButton key={provider.provider_id} provider={provider} onError={setError} />
        ))}
      {options?.passkeys && supportsPasskeys() && !pendingToken && (
        <button type="button" disabled={busy} onClick={() => void signInWithPasskey()}>
          {t('Sign in with a passkey')}
        </button>
      )}
      {pendingToken ? (
        <form class="card stack" onSubmit={(event) => void signInWithCode(event)}>
          <Field
            id="second-factor"
            label={t('Code')}
            hint={t('Six digits of your authenticator app, or a recovery code.')}
            error={codeError}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                autoComplete="one-time-code"
                required
                maxLength={40}
                value={code}
                onInput={(event) => setCode(event.currentTarget.value)}
              />
            )}
          </Field>
          <SubmitButton class="primary" busy={busy} ready={code.trim() !== ''}>
            {t('Sign in')}
          </SubmitButton>
        </form>
      ) : emailRequested ? (
        <>
          <Notice kind="good">
            {t(
              options?.mails === 'kept'
                ? 'If {email} has an account, we sent a sign-in link to it. The link works once and expires after 15 minutes. No email server is configured, so the email is stored: ask the operator, who can read it under Emails.'
                : 'If {email} has an account, we sent a sign-in link to it. The link works once and expires after 15 minutes.',
              { email },
            )}
          </Notice>
          <button type="button" class="plain flush" onClick={() => setEmailRequested(false)}>
            {t('Send again, or use another address')}
          </button>
        </>
      ) : (
        <form class="card stack" onSubmit={(event) => void requestSignInEmail(event)}>
          <label>
            {t('Email address')}
            <input
              type="email"
              autoComplete="email"
              required
              value={email}
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          </label>
          <p class="soft small">{t('We email you a link that signs you in. You do not need a password.')}</p>
          <SubmitButton class="primary wide" busy={busy} ready={email.trim() !== ''}>
            {t('Email me a sign-in link')}
          </SubmitButton>
        </form>
      )}
      <details class="operator-sign-in" open={options?.first_start ?? false}>
        <summary>{t('Sign in as an operator')}</summary>
        <div class="stack details-body small">
          {options?.providers
            .filter(({ for_operators }) => for_operators)
            .map((provider) => (
              <ProviderButton key={provider.provider_id} provider={provider} onError={setError} />
            ))}
          <p>
            {t(
              'Operators also sign in with their email address. In a terminal, every start prints a one-time link. Without a terminal, the first start stores the link in the file operator-sign-in-link in the data folder.',
            )}
          </p>
          <p>{t('If email does not work, print a new link on the server:')}</p>
          <pre>npx attestry operator link EMAIL</pre>
        </div>
      </details>
    </main>
  )

  async function signInWithLink(token: string, secondFactor?: string) {
    setBusy(true)
    setError(undefined)
    const body = secondFactor === undefined ? { token } : { token, code: secondFactor }
    const response = await api<ConsoleSession>('/sign-in/link', { body })
    setBusy(false)
    if (response.ok) return onSession(response.data)
    if (response.error.code === 'SECOND_FACTOR_REQUIRED') return setPendingToken(token)
    if (response.error.code === 'UNAUTHORIZED') {
      setPendingToken(undefined) // the link has expired
      // People open the link of an invitation again while they are signed in.
      const current = invitingOrgId ? await api<ConsoleSession>('/session') : undefined
      if (current?.ok && current.data.organisations.some(({ org_id }) => org_id === invitingOrgId))
        return onSession(current.data)
    }
    setError(response.error)
  }

  async function signInWithCode(event: Event) {
    event.preventDefault()
    await signInWithLink(pendingToken!, code)
  }

  async function signInWithPasskey() {
    setBusy(true)
    setError(undefined)
    const response = await usePasskey<ConsoleSession>('/sign-in/passkey')
    setBusy(false)
    if (response.ok) onSession(response.data)
    else setError(response.error)
  }

  async function requestSignInEmail(event: Event) {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const response = await api('/sign-in/mail', { body: { email: email.trim() } })
    setBusy(false)
    if (response.ok) setEmailRequested(true)
    else setError(response.error)
  }
}
