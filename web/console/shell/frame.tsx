import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ConsoleSession, ServerStatus, SignedOut } from '../../api-types/console.ts'
import type { Mode } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { t } from '../../translations/translate.ts'
import { isIndianTimeZone, useZone } from '../../ui/time.tsx'
import { alertsFor } from '../operator/alerts.ts'
import { deleteAllDrafts } from '../shared/form-draft.tsx'
import { saveAccountLanguage } from './account-language.ts'
import { api } from './api.ts'
import { CommandPalette, useCommandPalette } from './command-palette.tsx'
import { LanguageChoice } from './language-choice.tsx'
import { useData } from './loading.ts'
import { MenuIcon } from './menu-icon.tsx'
import { NotificationBell } from './notification-bell.tsx'
import { Link, navigate } from './router.tsx'
import { isEntryOf, navigation, operatorNavigation } from './routes.ts'
import type { OrgContext } from './session.ts'
import { ThemeSwitch } from './theme-switch.tsx'

const STATUS_POLL_MS = 30_000

interface Props {
  session: ConsoleSession
  context: OrgContext | undefined
  section: 'organisation' | 'operator' | 'account'
  path: string
  /** Called after a sign-out, with the page that ends the session at the identity provider. */
  onSignedOut: (providerSignOutUrl: string | null) => void
  children: ComponentChildren
}

/** The frame of every page: organisation, mode and navigation. */
export function Frame({ session, context, section, path, onSignedOut, children }: Props) {
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  const [isSearching, setSearching] = useCommandPalette()
  useEffect(() => {
    if (!open) return
    const closeOnEscape = ({ key }: KeyboardEvent) => key === 'Escape' && setOpen(false)
    addEventListener('keydown', closeOnEscape)
    return () => removeEventListener('keydown', closeOnEscape)
  }, [open])
  const isOperator = session.kind === 'operator'
  const status = useData<ServerStatus>(isOperator ? '/operator/now' : undefined, { pollMs: STATUS_POLL_MS })
  const alertCount = status.data ? alertsFor(status.data).length : 0
  const modeClass = section === 'organisation' ? (context?.mode ?? '') : ''
  return (
    <div class={`frame ${modeClass}`}>
      <a class="skip" href="#content">
        {t('Skip to content')}
      </a>
      <header class="frame-top">
        <button
          type="button"
          class="menu-button"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          {t('Menu')}
          <AlertCount count={alertCount} />
        </button>
        <Link class="wordmark home-link" to={context ? context.pagePath('') : '/operator'}>
          Attestry
        </Link>
        {section === 'organisation' && context && <ModeBanner mode={context.mode} />}
        {section === 'organisation' && context && !context.org.provider_required && context.org.role !== 'operator' && (
          <NotificationBell context={context} isCurrent={path === '/notifications'} />
        )}
      </header>
      <aside id="navigation" class={`side ${isOperator ? 'operator' : ''} ${open ? 'open' : ''}`}>
        {context && <OrganisationPicker session={session} context={context} />}
        {context && section === 'organisation' && <ModeSwitch context={context} path={path} />}
        <button type="button" class="search-button" aria-haspopup="dialog" onClick={() => setSearching(true)}>
          {t('Search')} <kbd>/</kbd>
        </button>
        <nav aria-label={t('Console')}>
          {context &&
            navigation.map(({ name, entries }) => (
              <div key={name}>
                <p class="nav-title">{name}</p>
                <ul class="nav">
                  {entries
                    .filter(({ role, path: to }) => context.can(role) && !(to === '/phone' && context.mode === 'live'))
                    .map((entry) => (
                      <li key={entry.path}>
                        <Link
                          to={context.pagePath(entry.path)}
                          current={section === 'organisation' && isEntryOf(entry, path)}
                        >
                          <MenuIcon path={entry.path} />
                          {entry.name}
                        </Link>
                      </li>
                    ))}
                </ul>
              </div>
            ))}
          {isOperator && <OperatorNav path={section === 'operator' ? path : ''} alerts={alertCount} />}
        </nav>
        <div class="side-foot small">
          <p class="email" title={session.email}>
            <Link to="/account" current={section === 'account'}>
              {session.email}
              <span class="hidden-text">, {t('your sessions')}</span>
            </Link>
          </p>
          <p class="side-choices">
            <LanguageChoice save={saveAccountLanguage} />
            <ThemeSwitch />
          </p>
          <ZoneSwitch />
          <p class="row">
            <a href="/docs/api/">{t('API reference')}</a>
            <button type="button" class="plain flush small" onClick={() => void signOut()}>
              {t('Sign out')}
            </button>
          </p>
        </div>
      </aside>
      <main id="content" class="content" tabIndex={-1}>
        {context?.org.service_off && (
          <p class="notice bad">
            {context.org.service_paused
              ? t(
                  'The service is switched off for this organisation: API calls return 503, and contacts, emails and webhook deliveries are held until it is switched on. Members can view but not change data.',
                )
              : t(
                  'The partner API is switched off for this organisation: API calls return 503, and members can view but not change data.',
                )}
          </p>
        )}
        {children}
      </main>
      {isSearching && <CommandPalette context={context} isOperator={isOperator} onClose={() => setSearching(false)} />}
    </div>
  )

  async function signOut() {
    const response = await api<SignedOut>('/sign-out', { method: 'POST' })
    deleteAllDrafts()
    onSignedOut(response.ok ? response.data.provider_sign_out_url : null)
  }
}

/** Links to the operator's pages, with the number of alerts. */
function OperatorNav({ path, alerts }: { path: string; alerts: number }) {
  return (
    <div>
      <p class="nav-title">{t('Operate')}</p>
      <ul class="nav">
        {operatorNavigation.map((entry) => (
          <li key={entry.path}>
            <Link
              to={`/operator${entry.path}`}
              current={(path === '/operator' ? '/operator/now' : path).startsWith(`/operator${entry.path}`)}
            >
              <MenuIcon path={entry.path} />
              {entry.name}
              {entry.path === '/now' && <AlertCount count={alerts} />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function AlertCount({ count }: { count: number }) {
  if (count === 0) return null
  return (
    <span class="badge bad nav-count">
      {count}
      <span class="hidden-text"> {t(count === 1 ? 'alert' : 'alerts')}</span>
    </span>
  )
}

/** Switches all times to Indian time, in which contact hours, limits and days are defined. */
function ZoneSwitch() {
  const [zone, setZone] = useZone()
  if (isIndianTimeZone) return null
  return (
    <p>
      <button type="button" class="plain flush small" onClick={() => setZone(zone === 'here' ? 'india' : 'here')}>
        {zone === 'here' ? t('Show times in IST') : t('Show times in my time zone')}
      </button>
    </p>
  )
}

function ModeBanner({ mode }: { mode: Mode }) {
  return mode === 'live' ? (
    <span class="mode-band">
      {richText('Live<detail>: real people, real credits</detail>', {
        detail: (words) => <span class="mode-more">{words}</span>,
      })}
    </span>
  ) : (
    <span class="mode-band test">
      {richText('TEST<detail>: no real messages</detail>', {
        detail: (words) => <span class="mode-detail">{words}</span>,
      })}
    </span>
  )
}

/** Switches between test and live mode. */
function ModeSwitch({ context, path }: { context: OrgContext; path: string }) {
  const pathInMode = (mode: Mode) => `/${context.org.org_id}/${mode}${listPath(path)}`
  return (
    <fieldset class="mode-switch" aria-label={t('Test or live')}>
      {(['test', 'live'] as const).map((mode) => (
        <button
          type="button"
          key={mode}
          class={mode}
          aria-pressed={context.mode === mode}
          onClick={() =>
            navigate(mode === 'live' && path === '/phone' ? pathInMode(mode).replace('/phone', '') : pathInMode(mode))
          }
        >
          {mode === 'test' ? t('Test') : t('Live')}
        </button>
      ))}
    </fieldset>
  )
}

/** Returns the path of the list page above a page, because an object exists in one mode only. */
function listPath(path: string): string {
  const [, first] = path.split('/')
  return first ? `/${first}` : ''
}

function OrganisationPicker({ session, context }: { session: ConsoleSession; context: OrgContext }) {
  const { organisations } = session
  if (organisations.length < 2) return <p class="organisation-name">{context.org.name}</p>
  const isListed = organisations.some(({ org_id }) => org_id === context.org.org_id)
  return (
    <label class="organisation-picker small">
      <span class="hidden-text">{t('Organisation')}</span>
      <select
        value={context.org.org_id}
        onChange={(event) => navigate(`/${event.currentTarget.value}/${context.mode}`)}
      >
        {!isListed && <option value={context.org.org_id}>{context.org.name}</option>}
        {organisations.map(({ org_id, name }) => (
          <option key={org_id} value={org_id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
