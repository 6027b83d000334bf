import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ConsoleRole, ConsoleSession, SessionOrganisation } from '../../api-types/console.ts'
import type { Mode } from '../../api-types/partner.ts'

/** The organisation and mode of the current page. */
export interface OrgContext {
  session: ConsoleSession
  org: SessionOrganisation
  mode: Mode
  /** Returns the console path of a page of this organisation and mode: `pagePath('/workflows')`. */
  pagePath: (path: string) => string
  /** Returns the API path of this organisation and mode: `apiPath('/workflows')`. */
  apiPath: (path: string) => string
  /** Returns whether the user has this role or a higher one. */
  can: (role: ConsoleRole) => boolean
}

/** Lowest role first; each role includes the permissions of the roles before it. */
const ROLES: ConsoleRole[] = ['viewer', 'recruiter', 'owner', 'operator']

export function orgContextFor(session: ConsoleSession, org: SessionOrganisation, mode: Mode): OrgContext {
  return {
    session,
    org,
    mode,
    pagePath: (path) => `/${org.org_id}/${mode}${path}`,
    apiPath: (path) => `/orgs/${org.org_id}/${mode}${path}`,
    can: (role) => ROLES.indexOf(org.role) >= ROLES.indexOf(role),
  }
}

/** Reloads the session, for example after an organisation was created. */
export const RefreshContext = createContext<() => Promise<void>>(async () => {})

/** The signed-in user, on every page. */
export const SessionContext = createContext<ConsoleSession | undefined>(undefined)

export const CurrentOrgContext = createContext<OrgContext>(undefined as never)

export function useOrgContext(): OrgContext {
  return useContext(CurrentOrgContext)
}
