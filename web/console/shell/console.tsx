import { useEffect, useState } from 'preact/hooks'
import { api, useCsrf, whenSignedOut } from './api.ts'
import { Frame } from './frame.tsx'
import { useData } from './loading.ts'
import { PageHost } from './page-host.tsx'
import { navigate, useAddress } from './router.tsx'
import { operatorPages, pages } from './routes.ts'
import { type Mode, type Organisation, PlaceContext, placeOf, RefreshContext, type Session } from './session.ts'
import { SignIn } from './sign-in.tsx'

/** Asks who is there, then shows the page that the address names. */
export function Console() {
  const [session, setSession] = useState<Session | null>()
  const { path } = useAddress()
  useEffect(() => {
    whenSignedOut(() => setSession(null))
    void refresh()
  }, [])

  if (session === undefined) return <div class="console-waiting" aria-busy="true" />
  if (session === null || path === '/sign-in') return <SignIn onSession={enter} />
  return (
    <RefreshContext.Provider value={refresh}>
      <Signed session={session} path={path} onSession={setSession} />
    </RefreshContext.Provider>
  )

  async function refresh() {
    const answer = await api<Session>('/session')
    enter(answer.ok ? answer.data : null)
  }

  function enter(next: Session | null) {
    if (next) useCsrf(next.csrf)
    setSession(next)
    if (next && path === '/sign-in') navigate('', { replace: true })
  }
}

interface Props {
  session: Session
  path: string
  onSession: (session: Session | null) => void
}

function Signed({ session, path, onSession }: Props) {
  const operator = session.kind === 'operator'
  const read = readPlace(session, path)
  const place = useNamed(session, read)
  const home = homeOf(session)
  useEffect(() => {
    if (place || (operator && path.startsWith('/operator'))) return
    if (home) navigate(`/${home.org_id}/test${path === '/first-campaign' ? path : ''}`, { replace: true })
    else if (operator) navigate('/operator/organisations', { replace: true })
  }, [path])

  if (operator && path.startsWith('/operator')) {
    const around = home ? placeOf(session, home, 'test') : undefined
    return (
      <Frame session={session} place={around} section="operator" path={path} onSession={onSession}>
        <PageHost pages={operatorPages} path={path.slice('/operator'.length)} />
      </Frame>
    )
  }
  if (!place) {
    return session.organisations.length > 0 || operator ? null : (
      <main class="sheet">
        <div class="card">
          <h1>No organisation</h1>
          <p class="soft">You are no longer a member of any organisation. Ask its owner to add you again.</p>
        </div>
      </main>
    )
  }
  keepOrganisation(place.org)
  return (
    <PlaceContext.Provider value={place}>
      <Frame session={session} place={place} section="organisation" path={place.rest} onSession={onSession}>
        <PageHost key={`${place.org.org_id} ${place.mode}`} pages={pages} path={place.rest} />
      </Frame>
    </PlaceContext.Provider>
  )
}

type ReadPlace = ReturnType<typeof readPlace>

/** An operator has more organisations than the first hundred that the session names: the name of another is asked for. */
function useNamed(session: Session, place: ReadPlace): ReadPlace {
  const org_id = place?.org.org_id
  const known = session.organisations.some((each) => each.org_id === org_id)
  const { data } = useData<Organisation>(org_id && !known ? `/orgs/${org_id}` : undefined)
  return place && data ? { ...placeOf(session, data, place.mode), rest: place.rest } : place
}

/** /{org}/{mode}/…, where the organisation is one that the reader may see. */
function readPlace(session: Session, path: string) {
  const [, orgId, mode] = path.split('/')
  if (!orgId?.startsWith('ORG_') || (mode !== 'test' && mode !== 'live')) return undefined
  const known = session.organisations.find(({ org_id }) => org_id === orgId)
  const org = known ?? (session.kind === 'operator' ? unnamed(orgId) : undefined)
  if (!org) return undefined
  return { ...placeOf(session, org, mode as Mode), rest: path.slice(`/${orgId}/${mode}`.length) }
}

function unnamed(org_id: string): Organisation {
  return { org_id, name: org_id, role: 'operator', service_off: false }
}

/** As the first start of a server calls the organisation that it makes for trying things out. */
const DEMO = 'Demo organisation'

/** Where a reader begins who has named no organisation: the last one used, else the one with credits to try things out. */
function homeOf({ organisations }: Session): Organisation | undefined {
  const last = lastOrganisation()
  return (
    organisations.find(({ org_id }) => org_id === last) ??
    organisations.find(({ name }) => name === DEMO) ??
    organisations[0]
  )
}

const LAST = 'attestry console organisation'

function lastOrganisation(): string | null {
  try {
    return localStorage.getItem(LAST)
  } catch {
    return null
  }
}

function keepOrganisation({ org_id }: Organisation) {
  try {
    localStorage.setItem(LAST, org_id)
  } catch {}
}
