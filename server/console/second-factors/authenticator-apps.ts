import { randomBytes } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId, randomCode } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { hasEmail } from './passkeys.ts'
import { encodeBase32, findTotpStep } from './totp.ts'

const SECRET_BYTES = 20
const RECOVERY_CODE_COUNT = 10
const RECOVERY_CODE_LENGTH = 16

type AppDeps = Pick<Context, 'clock' | 'vault'>

/** Returns the ID of the person's authenticator app, if they have confirmed one. Sign-in by email then also requires a code. */
export async function findAuthenticatorApp(queries: Queries, email: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('console_authenticator_apps')
    .select('app_id')
    .where(hasEmail(email))
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return row?.app_id
}

/** Creates the secret for an app, which is not used until the person has entered a first code. Returns undefined if they have an app. */
export async function createAuthenticatorApp(
  tx: Tx,
  { clock, vault }: AppDeps,
  email: string,
): Promise<{ secret: string; uri: string } | undefined> {
  await tx.deleteFrom('console_authenticator_apps').where(hasEmail(email)).where('confirmed_at', 'is', null).execute()
  const appId = newId('TA_', clock.now())
  const bytes = randomBytes(SECRET_BYTES)
  const created = await tx
    .insertInto('console_authenticator_apps')
    .values({
      app_id: appId,
      email,
      secret: vault.seal(bytes.toString('base64'), secretPurpose(appId)),
      created_at: new Date(clock.now()),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('app_id')
    .executeTakeFirst()
  if (!created) return undefined
  const secret = encodeBase32(bytes)
  return { secret, uri: `otpauth://totp/Attestry:${encodeURIComponent(email)}?secret=${secret}&issuer=Attestry` }
}

/** Confirms the app with its first code, and returns new recovery codes; undefined if the code is wrong. */
export async function confirmAuthenticatorApp(
  tx: Tx,
  deps: AppDeps,
  email: string,
  code: string,
): Promise<string[] | undefined> {
  const app = await lockApp(tx, email)
  if (!app || app.confirmed_at !== null || !(await useTotpCode(tx, deps, app, code))) return undefined
  await tx
    .updateTable('console_authenticator_apps')
    .set({ confirmed_at: new Date(deps.clock.now()) })
    .where('app_id', '=', app.app_id)
    .execute()
  const codes = Array.from({ length: RECOVERY_CODE_COUNT }, () => randomCode(RECOVERY_CODE_LENGTH))
  await tx
    .insertInto('console_recovery_codes')
    .values(codes.map((each) => ({ app_id: app.app_id, code_hash: recoveryHash(app.app_id, each) })))
    .execute()
  return codes.map((each) => each.match(/.{4}/g)!.join('-'))
}

/** Returns whether the code is a new one of the person's app, or one of their unused recovery codes; it is then used. */
export async function useSecondFactorCode(
  tx: Tx,
  deps: AppDeps,
  email: string,
  submittedCode: string,
): Promise<boolean> {
  const app = await lockApp(tx, email)
  if (!app || app.confirmed_at === null) return false
  const code = submittedCode.replace(/[\s-]/g, '').toUpperCase()
  if (/^\d{6}$/.test(code)) return useTotpCode(tx, deps, app, code)
  const used = await tx
    .updateTable('console_recovery_codes')
    .set({ used_at: new Date(deps.clock.now()) })
    .where('app_id', '=', app.app_id)
    .where('code_hash', '=', recoveryHash(app.app_id, code))
    .where('used_at', 'is', null)
    .returning('app_id')
    .executeTakeFirst()
  return used !== undefined
}

export async function countRecoveryCodes(queries: Queries, appId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('console_recovery_codes')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('app_id', '=', appId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Removes the app of a person with its recovery codes. Returns false if they have none. */
export async function removeAuthenticatorApp(tx: Tx, email: string): Promise<boolean> {
  const removed = await tx
    .deleteFrom('console_authenticator_apps')
    .where(hasEmail(email))
    .returning('app_id')
    .executeTakeFirst()
  return removed !== undefined
}

interface LockedApp {
  app_id: string
  secret: Buffer
  confirmed_at: Date | null
  used_step: string | number
}

async function lockApp(tx: Tx, email: string): Promise<LockedApp | undefined> {
  return tx
    .selectFrom('console_authenticator_apps')
    .select(['app_id', 'secret', 'confirmed_at', 'used_step'])
    .where(hasEmail(email))
    .forUpdate()
    .executeTakeFirst()
}

async function useTotpCode(tx: Tx, { clock, vault }: AppDeps, app: LockedApp, code: string): Promise<boolean> {
  const secret = Buffer.from(vault.open(app.secret, secretPurpose(app.app_id)), 'base64')
  const step = findTotpStep(secret, code.replace(/\s/g, ''), clock.now())
  if (step === undefined || step <= Number(app.used_step)) return false
  await tx.updateTable('console_authenticator_apps').set({ used_step: step }).where('app_id', '=', app.app_id).execute()
  return true
}

/** A recovery code has 80 random bits and cannot be guessed, so it needs no slow password hash. */
function recoveryHash(appId: string, code: string): Buffer {
  return hashToken(`${appId} ${code}`)
}

function secretPurpose(appId: string) {
  return `secret of ${appId}`
}

export const sealedAppSecrets: SealedColumn = {
  table: 'console_authenticator_apps',
  column: 'secret',
  id: ['app_id'],
  purpose: secretPurpose,
}
