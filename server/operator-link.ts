import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordAuditEntry } from './console/audit.ts'
import { ensureFirstOperator } from './console/auth/operators.ts'
import { createSignInLink, PRINTED_LINK_VALID_MS, signInUrl } from './console/auth/sign-in-links.ts'
import type { Context } from './context.ts'

/** A one-time sign-in link for an operator: shown at a terminal, otherwise stored in a file, because logs must not contain one. */
export interface OperatorLink {
  email: string
  url?: string
  path?: string
}

/**
 * Creates the first operator if there is none. At a terminal, every start returns a link; otherwise, only the start that creates the
 * operator does. Later, `attestry operator link` prints one.
 */
export async function createOperatorLink(
  { db, clock, config, log }: Pick<Context, 'db' | 'clock' | 'config' | 'log'>,
  isTerminal: boolean,
): Promise<OperatorLink | undefined> {
  const link = await db.transaction(async (tx) => {
    const { operator, created } = await ensureFirstOperator(tx, clock, config.operatorEmail)
    const { operator_id, email } = operator
    if (created)
      await recordAuditEntry(tx, clock, {
        actor: 'server',
        action: 'operator.add',
        subject: operator_id,
        details: { email },
      })
    if (!created && !isTerminal) return undefined
    const token = await createSignInLink(tx, clock, email, PRINTED_LINK_VALID_MS)
    return { email, url: signInUrl(config.publicUrl!, token) }
  })
  if (!link || isTerminal) return link
  const { email, url } = link
  const path = join(config.dataDir, 'operator-sign-in-link')
  try {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
    await rm(path, { force: true })
    await writeFile(path, `${url}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    log.warn({ err: error }, `storing the operator's sign-in link failed, run: npx attestry operator link ${email}`)
    return undefined
  }
  log.info({ file: path }, "the operator's sign-in link is stored in a file")
  return { email, path }
}
