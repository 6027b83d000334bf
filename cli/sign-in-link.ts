import type { Command } from 'commander'
import type { Config } from '../server/config.ts'
import { createSignInLink, PRINTED_LINK_VALID_MS, signInUrl } from '../server/console/auth/sign-in-links.ts'
import { type Clock, MINUTE } from '../server/platform/clock.ts'
import type { Tx } from '../server/platform/database/database.ts'
import { print } from './print.ts'
import { serverAddress } from './server-address.ts'

interface PrintedLink {
  url: string
  expires_at: string
}

/** Creates a one-time sign-in link for a member or an operator, for use when email does not work. */
export async function createPrintedLink(tx: Tx, clock: Clock, config: Config, email: string): Promise<PrintedLink> {
  const token = await createSignInLink(tx, clock, email, PRINTED_LINK_VALID_MS)
  const expiresAt = new Date(clock.now() + PRINTED_LINK_VALID_MS)
  return { url: signInUrl(await serverAddress(config), token), expires_at: expiresAt.toISOString() }
}

export function printLink(command: Command, link: PrintedLink): void {
  print(command, link, () =>
    [link.url, '', `The link works once and expires in ${PRINTED_LINK_VALID_MS / MINUTE} minutes.`].join('\n'),
  )
}
