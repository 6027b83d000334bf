import { Command, Option } from 'commander'
import {
  createPartnerKey,
  createSessionKey,
  GRACE_HOURS,
  type KeyKind,
  listKeys,
  type Mode,
  ownerOfKey,
  revokeKey,
  rotateKey,
  statusOf,
} from '../../server/access/keys.ts'
import { type Scope, scopes } from '../../server/access/scopes.ts'
import { problem } from '../../server/api/problem.ts'
import { examples } from '../examples.ts'
import { futureTime, mode, scopeList, wholeNumber } from '../options.ts'
import { facts, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'
import { limitsCommand } from './key-limits.ts'

interface CreateOptions {
  org: string
  mode: Mode
  kind: KeyKind
  scopes?: Scope[]
  expires?: Date
}

export function keyCommand(): Command {
  const key = new Command('key')
    .description('keys: who may call, for which organisation, with which scopes')
    .addHelpText(...examples('key create --org ORG_… --mode test', 'key list --org ORG_…'))

  key
    .command('create')
    .description('make a key; its secret is shown this once')
    .requiredOption('--org <org>', 'the organisation, ORG_…')
    .requiredOption('--mode <mode>', 'test (sees test data only) or live', mode)
    .addOption(
      new Option('--kind <kind>', 'partner (signed requests) or session (verification sessions)')
        .choices(['partner', 'session'])
        .default('partner'),
    )
    .option('--scopes <list>', `comma-separated, or all (default: all); there are ${scopes.join(', ')}`, scopeList)
    .option('--expires <time>', 'ISO 8601; without it the key is valid until revoked', futureTime)
    .addHelpText(
      ...examples(
        'key create --org ORG_… --mode test',
        'key create --org ORG_… --mode live --scopes mandates:read,results:read --expires 2030-01-31T00:00:00Z',
        'key create --org ORG_… --mode test --kind session',
      ),
    )
    .action(createKey)

  key
    .command('list')
    .description('the keys of an organisation')
    .requiredOption('--org <org>', 'the organisation, ORG_…')
    .addHelpText(...examples('key list --org ORG_…'))
    .action(async (options: { org: string }, command: Command) => {
      const keys = await withStore(({ db }) => listKeys(db.queries, options.org))
      print(command, keys, () =>
        table(
          ['KEY', 'KIND', 'MODE', 'STATUS', 'SCOPES', 'EXPIRES', 'OLD SECRET UNTIL', 'CREATED'],
          keys.map((row) => [
            row.key_id,
            row.kind,
            row.mode,
            statusOf(row, Date.now()),
            row.kind === 'partner' ? shortScopes(row.scopes) : '-',
            row.expires_at ?? 'never',
            stillValid(row.previous_secret_until) ?? '-',
            row.created_at,
          ]),
          `${options.org} has no keys yet. Make one: npx attestry key create --org ${options.org} --mode test`,
        ),
      )
    })

  key
    .command('revoke')
    .description('end a key, in force within a second in every process')
    .argument('<key>', 'VFN_… or VSK_…')
    .addHelpText(...examples('key revoke VFN_LIVE_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const revoked = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const done = await revokeKey(tx, clock, id)
          await noteCommand(tx, clock, {
            ...(await ownerOfKey(tx, done.keyId)),
            action: 'key.revoke',
            subject: done.keyId,
          })
          return done
        }),
      )
      print(
        command,
        { key_id: revoked.keyId, kind: revoked.kind, status: 'revoked' },
        () => `${revoked.keyId} is revoked.`,
      )
    })

  key
    .command('rotate')
    .description('give a partner key a new secret; the old one stays valid for a while')
    .argument('<key>', 'VFN_…')
    .option(
      '--grace-hours <hours>',
      'how long the old secret stays valid',
      wholeNumber(0, GRACE_HOURS.most),
      GRACE_HOURS.usual,
    )
    .addHelpText(...examples('key rotate VFN_LIVE_… --grace-hours 48'))
    .action(async (id: string, options: { graceHours: number }, command: Command) => {
      const rotated = await withStore(({ db, vault, clock }) =>
        db.transaction(async (tx) => {
          const done = await rotateKey(tx, vault, clock, id, options.graceHours)
          await noteCommand(tx, clock, { ...(await ownerOfKey(tx, id)), action: 'key.rotate', subject: id })
          return done
        }),
      )
      print(command, { key_id: id, secret: rotated.secret, previous_secret_until: rotated.previousUntil }, () =>
        [
          facts([
            ['Key', id],
            ['New secret', rotated.secret],
            ['Old secret until', rotated.previousUntil],
          ]),
          '',
          'The new secret is not shown again.',
        ].join('\n'),
      )
    })

  key.addCommand(limitsCommand())
  return key
}

async function createKey(options: CreateOptions, command: Command) {
  const { org: orgId, mode, kind, expires } = options
  if (kind === 'session' && options.scopes)
    throw problem('VALIDATION_FAILED', 'A session key has no scopes; leave --scopes out.')
  const granted = options.scopes ?? [...scopes]
  const made = await withStore(({ db, vault, clock }) =>
    db.transaction(async (tx) => {
      const key = { orgId, mode, expiresAt: expires }
      const created =
        kind === 'session'
          ? { ...(await createSessionKey(tx, clock, key)), secret: undefined }
          : { ...(await createPartnerKey(tx, vault, clock, { ...key, scopes: granted })), key: undefined }
      await noteCommand(tx, clock, { orgId, mode, action: 'key.create', subject: created.keyId, details: { kind } })
      return created
    }),
  )
  const shared = { key_id: made.keyId, kind, org_id: orgId, mode, expires_at: expires ?? null }
  const value = kind === 'session' ? { ...shared, key: made.key } : { ...shared, secret: made.secret, scopes: granted }
  print(command, value, () =>
    [
      facts([
        ['Key', kind === 'session' ? made.key : made.keyId],
        ...(kind === 'session'
          ? ([['Listed as', made.keyId]] as [string, string][])
          : ([
              ['Secret', made.secret],
              ['Scopes', shortScopes(granted)],
            ] as [string, string][])),
        ['Mode', mode],
        ['Expires', expires ?? 'never'],
      ]),
      '',
      kind === 'session' ? 'The key is not shown again.' : 'The secret is not shown again.',
    ].join('\n'),
  )
}

function stillValid(until: Date | null): Date | undefined {
  return until && until.getTime() > Date.now() ? until : undefined
}

function shortScopes(list: string[]) {
  return list.length === scopes.length ? 'all' : list.join(',')
}
