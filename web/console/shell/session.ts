import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export type Role = 'viewer' | 'recruiter' | 'owner' | 'operator'
export type Mode = 'test' | 'live'

export interface Organisation {
  org_id: string
  name: string
  role: Role
  service_off: boolean
}

export interface Session {
  kind: 'operator' | 'person'
  email: string | null
  csrf: string
  expires_at: string
  organisations: Organisation[]
}

/** Where the reader is: whose data, and whether it is test or live. */
export interface Place {
  session: Session
  org: Organisation
  mode: Mode
  /** The address of a page of this organisation and mode: `go('/workflows')`. */
  go: (path: string) => string
  /** A call to this organisation's and mode's API: `at('/workflows')`. */
  at: (path: string) => string
  /** Whether the reader's role reaches this far. */
  may: (role: Role) => boolean
}

const ROLES: Role[] = ['viewer', 'recruiter', 'owner', 'operator']

export function placeOf(session: Session, org: Organisation, mode: Mode): Place {
  return {
    session,
    org,
    mode,
    go: (path) => `/${org.org_id}/${mode}${path}`,
    at: (path) => `/orgs/${org.org_id}/${mode}${path}`,
    may: (role) => ROLES.indexOf(org.role) >= ROLES.indexOf(role),
  }
}

/** Asks again who is there, for instance after an organisation was made. */
export const RefreshContext = createContext<() => Promise<void>>(async () => {})

export const PlaceContext = createContext<Place>(undefined as never)

export function usePlace(): Place {
  return useContext(PlaceContext)
}
