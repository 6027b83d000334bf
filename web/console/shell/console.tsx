import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, SessionOrganisation, SignInOptions } from '../../api-types/console.ts'
import type { Mode } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { applyAccountLanguage } from './account-language.ts'
import { type ApiError, api, onSignedOut, setCsrfToken } from './api.ts'
import { ConfirmIdentity } from './confirm-identity.tsx'
import { Frame } from './frame.tsx'
import { forgetRecentData, useData } from './loading.ts'
import { PageHost } from './page-host.tsx'
import { ProviderButton } from './provider-button.tsx'
import { navigate, useAddress } from './router.tsx'
import { accountPages, operatorPages, pages } from './routes.ts'
import { CurrentOrgContext, type OrgContext, orgContextFor, RefreshContext, SessionContext } from './session.ts'
import { readInvitingOrganisation, readSignInToken, SignIn } from './sign-in.tsx'

/** Loads the session, then shows the sign-in page or the page at the current address. */
export function Console() {
  const [session, setSession] = useState<ConsoleSession | null>()
  const [providerSignOutUrl, setProviderSignOutUrl] = useState<string>()
  const { path } = useAddress()
  useEffect(() => {
    onSignedOut(() => setSession(null))
    // A sign-in link is used even if there is a session: it renews the sign-in.
    if (path === '/sign-in' && readSignInToken()) setSession(null)
    else void refresh()
  }, [])
  useEffect(() => {
    if (session === null) forgetRecentData()
  }, [session])
  useEffect(() => {
    if (session) applyAccountLanguage(session)
  }, [session?.email])

  if (session === undefined) return <div class="console-waiting" aria-busy="true" />
  if (session === null || path === '/sign-in')
    return <SignIn onSession={applySession} providerSignOutUrl={providerSignOutUrl} />
  return (
    <RefreshContext.Provider value={refresh}>
      <SessionContext.Provider value={session}>
        <SignedIn session={session} path={path} onSignedOut={signedOut} />
      </SessionContext.Provider>
      <ConfirmIdentity session={session} />
    </RefreshContext.Provider>
  )

  async function refresh() {
    const response = await api<ConsoleSession>('/session')
    applySession(response.ok ? response.data : null)
  }

  function signedOut(url: string | null) {
    setProviderSignOutUrl(url ?? undefined)
    setSession(null)
  }

  function applySession(next: ConsoleSession | null) {
    if (next) setCsrfToken(next.csrf)
    setSession(next)
    if (!next || path !== '/sign-in') return
    const invitedTo = next.organisations.find(({ org_id }) => org_id === readInvitingOrganisation())
    navigate(invitedTo ? `/${invitedTo.org_id}/test` : '', { replace: true })
  }
}

interface Props {
  session: ConsoleSession
  path: string
  /** Called after a sign-out, with the page that ends the session at the identity provider. */
  onSignedOut: (providerSignOutUrl: string | null) => void
}

function SignedIn({ session, path, onSignedOut }: Props) {
  const isOperator = session.kind === 'operator'
  const context = useNamedOrganisation(session, readOrgContext(session, path))
  const home = homeOrganisation(session)
  useEffect(() => {
    if (context || isUnknownOrganisation(path) || path === ACCOUNT_PATH || (isOperator && path.startsWith('/operator')))
      return
    if (home) navigate(`/${home.org_id}/test${path === '/first-campaign' ? path : ''}`, { replace: true })
    else if (isOperator) navigate('/operator/organisations', { replace: true })
  }, [path])

  const homeContext = home ? orgContextFor(session, home, 'test') : undefined
  if (path === ACCOUNT_PATH) {
    return (
      <Frame session={session} context={homeContext} section="account" path={path} onSignedOut={onSignedOut}>
        <PageHost pages={accountPages} path="" />
      </Frame>
    )
  }
  if (isOperator && path.startsWith('/operator')) {
    return (
      <Frame session={session} context={homeContext} section="operator" path={path} onSignedOut={onSignedOut}>
        <PageHost pages={operatorPages} path={path.slice('/operator'.length)} />
      </Frame>
    )
  }
  if (!context) {
    if (isUnknownOrganisation(path) && home)
      return (
        <Frame session={session} context={homeContext} section="account" path={path} onSignedOut={onSignedOut}>
          <div class="stack">
            <h1>{t('Organisation not found')}</h1>
            <p class="soft">{t('It does not exist, or you are not a member of it. Choose a page from the menu.')}</p>
          </div>
        </Frame>
      )
    return session.organisations.length > 0 || isOperator ? null : (
      <main class="sheet">
        <div class="card">
          <h1>{t('No organisation')}</h1>
          <p class="soft">{t('You are not a member of any organisation. Ask an owner to add you.')}</p>
        </div>
      </main>
    )
  }
  // An organisation that is not in the session is known to exist when its name is loaded.
  if (context.org.name !== context.org.org_id) saveLastOrganisation(context.org)
  if (context.org.provider_required)
    return (
      <Frame
        session={session}
        context={context}
        section="organisation"
        path={context.subpath}
        onSignedOut={onSignedOut}
      >
        <ProviderRequired org={context.org} />
      </Frame>
    )
  return (
    <CurrentOrgContext.Provider value={context}>
      <Frame
        session={session}
        context={context}
        section="organisation"
        path={context.subpath}
        onSignedOut={onSignedOut}
      >
        <PageHost key={`${context.org.org_id} ${context.mode}`} pages={pages} path={context.subpath} />
      </Frame>
    </CurrentOrgContext.Provider>
  )
}

/** Asks for a sign-in with the identity provider that the organisation requires. */
function ProviderRequired({ org: { org_id, name } }: { org: SessionOrganisation }) {
  const { data } = useData<SignInOptions>(`/sign-in?org=${org_id}`)
  const [error, setError] = useState<ApiError>()
  const provider = data?.providers.find(({ for_operators }) => !for_operators)
  return (
    <div class="stack">
      <h1>{t('Sign in with the identity provider')}</h1>
      <p class="soft">{t('{name} requires that its members sign in with its identity provider.', { name })}</p>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {provider && (
        <p>
          <ProviderButton provider={provider} onError={setError} />
        </p>
      )}
    </div>
  )
}

const ACCOUNT_PATH = '/account'

/** Returns whether the address names an organisation. */
function isUnknownOrganisation(path: string): boolean {
  return /^\/ORG_[^/]*\/(test|live)(\/|$)/.test(path)
}

/** The organisation and mode in an address, and the rest of its path. */
type OrgPage = (OrgContext & { subpath: string }) | undefined

/** Loads the name of an organisation that is not in the session: an operator's session lists only the first hundred. */
function useNamedOrganisation(session: ConsoleSession, page: OrgPage): OrgPage {
  const org_id = page?.org.org_id
  const isListed = session.organisations.some((each) => each.org_id === org_id)
  const { data, error } = useData<SessionOrganisation>(org_id && !isListed ? `/orgs/${org_id}` : undefined)
  if (error?.code === 'NOT_FOUND') return undefined
  return page && data ? { ...orgContextFor(session, data, page.mode), subpath: page.subpath } : page
}

/** Parses /{org}/{mode}/…; undefined unless the user has access to the organisation. */
function readOrgContext(session: ConsoleSession, path: string): OrgPage {
  const [, orgId, mode] = path.split('/')
  if (!orgId?.startsWith('ORG_') || (mode !== 'test' && mode !== 'live')) return undefined
  const listedOrganisation = session.organisations.find(({ org_id }) => org_id === orgId)
  const org = listedOrganisation ?? (session.kind === 'operator' ? unlistedOrganisation(orgId) : undefined)
  if (!org) return undefined
  return { ...orgContextFor(session, org, mode as Mode), subpath: path.slice(`/${orgId}/${mode}`.length) }
}

function unlistedOrganisation(org_id: string): SessionOrganisation {
  return { org_id, name: org_id, role: 'operator', service_off: false, service_paused: false, provider_required: false }
}

/** Name of the organisation that the server creates when it first starts. */
const DEMO_NAME = 'Demo organisation'

/** Returns the organisation to open by default: the last one used, or the demo organisation, or the first. */
function homeOrganisation({ organisations }: ConsoleSession): SessionOrganisation | undefined {
  const lastOrgId = readLastOrganisationId()
  return (
    organisations.find(({ org_id }) => org_id === lastOrgId) ??
    organisations.find(({ name }) => name === DEMO_NAME) ??
    organisations[0]
  )
}

const LAST_ORGANISATION_KEY = 'attestry console organisation'

function readLastOrganisationId(): string | null {
  try {
    return localStorage.getItem(LAST_ORGANISATION_KEY)
  } catch {
    return null
  }
}

function saveLastOrganisation({ org_id }: SessionOrganisation) {
  try {
    localStorage.setItem(LAST_ORGANISATION_KEY, org_id)
  } catch {}
}
