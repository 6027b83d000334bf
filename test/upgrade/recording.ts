import type { TestKey } from '../support/call.ts'

/** A GET request and its response. */
export interface RecordedRead {
  /**
   * The sender of the request: a partner with a signature, a program with an API key, an operator in the console, the
   * holder of a credential, or nobody.
   */
  as: 'partner' | 'session_key' | 'operator' | 'holder' | 'public'
  path: string
  body: unknown
}

/** A database that the release with the migration 0035 filled, and what that release returned for it. */
export interface Recording {
  masterKey: string
  partnerKey: TestKey
  sessionKey: string
  holderToken: string
  /** The address of the recorded server, which links contain. */
  publicUrl: string
  /** Time of the clock when the rows were recorded. */
  now: number
  tables: { name: string; rows: object[] }[]
  reads: RecordedRead[]
  /** Texts that identify people, or that they wrote. */
  personalValues: string[]
}
