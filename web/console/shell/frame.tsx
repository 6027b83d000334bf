import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { inIndia, useZone } from '../../ui/time.tsx'
import { type Now, troublesOf } from '../operator/alerts.ts'
import { api } from './api.ts'
import { useData } from './loading.ts'
import { Link, navigate } from './router.tsx'
import { navigation, operatorNavigation } from './routes.ts'
import type { Mode, Place, Session } from './session.ts'

interface Props {
  session: Session
  place: Place | undefined
  section: 'organisation' | 'operator'
  path: string
  onSession: (session: Session | null) => void
  children: ComponentChildren
}

/** What stands around every page: whose data it is, test or live, and where else one can go. */
export function Frame({ session, place, section, path, onSession, children }: Props) {
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  const operator = session.kind === 'operator'
  const now = useData<Now>(operator ? '/operator/now' : undefined, { every: 30_000 })
  const troubles = now.data ? troublesOf(now.data).length : 0
  const live = section === 'organisation' && place?.mode === 'live'
  return (
    <div class={`frame ${live ? 'live' : ''}`}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="frame-top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          Menu
          <Troubles count={troubles} />
        </button>
        <span class="wordmark">Attestry</span>
        {section === 'organisation' && place && <ModeBand mode={place.mode} />}
      </header>
      <aside id="navigation" class={`side ${operator ? 'operator' : ''} ${open ? 'open' : ''}`}>
        {place && <Whose session={session} place={place} />}
        {place && section === 'organisation' && <ModeSwitch place={place} path={path} />}
        <nav aria-label="Console">
          {place &&
            navigation.map(({ name, entries }) => (
              <div key={name}>
                <p class="nav-title">{name}</p>
                <ul class="nav">
                  {entries
                    .filter(({ role, path: to }) => place.may(role) && !(to === '/phone' && place.mode === 'live'))
                    .map((entry) => (
                      <li key={entry.path}>
                        <Link
                          to={place.go(entry.path)}
                          current={
                            section === 'organisation' &&
                            (entry.path === '' ? path === '' : path === entry.path || path.startsWith(`${entry.path}/`))
                          }
                        >
                          {entry.name}
                        </Link>
                      </li>
                    ))}
                </ul>
              </div>
            ))}
          {operator && <Operate path={section === 'operator' ? path : ''} troubles={troubles} />}
        </nav>
        <div class="side-foot small">
          <p class="soft">{session.email ?? 'Operator'}</p>
          <ZoneSwitch />
          <p class="row">
            <a href="/docs/">API reference</a>
            <button type="button" class="plain flush small" onClick={() => void signOut()}>
              Sign out
            </button>
          </p>
        </div>
      </aside>
      <main id="content" class="content" tabIndex={-1}>
        {place?.org.service_off && (
          <p class="notice bad">The partner API is switched off for this organisation: partners get 503.</p>
        )}
        {children}
      </main>
    </div>
  )

  async function signOut() {
    await api('/sign-out', { method: 'POST' })
    onSession(null)
  }
}

/** The operator's pages. How many things need attention stands in every page's frame. */
function Operate({ path, troubles }: { path: string; troubles: number }) {
  return (
    <div>
      <p class="nav-title">Operate</p>
      <ul class="nav">
        {operatorNavigation.map((entry) => (
          <li key={entry.path}>
            <Link
              to={`/operator${entry.path}`}
              current={(path === '/operator' ? '/operator/now' : path).startsWith(`/operator${entry.path}`)}
            >
              {entry.name}
              {entry.path === '/now' && <Troubles count={troubles} />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Troubles({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <span class="badge bad nav-count">
      {count}
      <span class="hidden-text">{count === 1 ? ' trouble' : ' troubles'}</span>
    </span>
  )
}

/** For who sits elsewhere: contact hours, limits and days are Indian. */
function ZoneSwitch() {
  const [zone, setZone] = useZone()
  if (inIndia) return null
  return (
    <p>
      <button type="button" class="plain flush small" onClick={() => setZone(zone === 'here' ? 'india' : 'here')}>
        {zone === 'here' ? 'Show times in IST' : 'Show times in my zone'}
      </button>
    </p>
  )
}

function ModeBand({ mode }: { mode: Mode }) {
  return mode === 'live' ? (
    <span class="mode-band">
      LIVE: real people<span class="mode-more">, real credits</span>
    </span>
  ) : (
    <span class="mode-band test">TEST: nobody is contacted</span>
  )
}

/** One press, always in view; what it leads to is said beside it. */
function ModeSwitch({ place, path }: { place: Place; path: string }) {
  const to = (mode: Mode) => `/${place.org.org_id}/${mode}${topOf(path)}`
  return (
    <fieldset class="mode-switch" aria-label="Test or live">
      {(['test', 'live'] as const).map((mode) => (
        <button
          type="button"
          key={mode}
          class={mode}
          aria-pressed={place.mode === mode}
          onClick={() => navigate(mode === 'live' && path === '/phone' ? to(mode).replace('/phone', '') : to(mode))}
        >
          {mode === 'test' ? 'Test' : 'Live'}
        </button>
      ))}
    </fieldset>
  )
}

/** Objects belong to one mode: the other one has the list, not the object. */
function topOf(path: string): string {
  const [, first] = path.split('/')
  return first ? `/${first}` : ''
}

function Whose({ session, place }: { session: Session; place: Place }) {
  const { organisations } = session
  if (organisations.length < 2) return <p class="whose">{place.org.name}</p>
  const known = organisations.some(({ org_id }) => org_id === place.org.org_id)
  return (
    <label class="whose-choice small">
      <span class="hidden-text">Organisation</span>
      <select value={place.org.org_id} onChange={(event) => navigate(`/${event.currentTarget.value}/${place.mode}`)}>
        {!known && <option value={place.org.org_id}>{place.org.name}</option>}
        {organisations.map(({ org_id, name }) => (
          <option key={org_id} value={org_id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
