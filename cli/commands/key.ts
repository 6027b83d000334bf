import { Command, Option } from 'commander'
import { MAX_ALLOWED_RANGES, parseAllowedRange } from '../../server/access/allowed-addresses.ts'
import {
  createPartnerKey,
  createSessionKey,
  DEFAULT_GRACE_HOURS,
  findKeyScope,
  type KeyKind,
  keyStatus,
  listKeys,
  MAX_GRACE_HOURS,
  type Mode,
  parseKeyName,
  renameKey,
  revokeKey,
  rotateKey,
  setAllowedAddresses,
} from '../../server/access/keys.ts'
import { LIMIT_PRESETS, type LimitPreset } from '../../server/access/limits/table.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { allScopes, type Scope } from '../../server/access/scopes.ts'
import { problem } from '../../server/api/problem.ts'
import { examples } from '../examples.ts'
import { parseFutureTime, parseMode, parseScopes, wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'
import { limitsCommand } from './key-limits.ts'

interface CreateOptions {
  org: string
  mode: Mode
  kind: KeyKind
  name?: string
  scopes?: Scope[]
  expires?: Date
  limits?: LimitPreset
}

export function keyCommand(): Command {
  const key = new Command('key')
    .description('Manage API keys: create, list, rename, rotate and revoke them, and change their limits')
    .addHelpText(...examples('key create --org ORG_… --mode test', 'key list --org ORG_…'))

  key
    .command('create')
    .description('Create a key (its secret is shown only once)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--mode <mode>', 'test (access to test data only) or live', parseMode)
    .addOption(
      new Option('--kind <kind>', 'partner (signed requests) or session (verification sessions)')
        .choices(['partner', 'session'])
        .default('partner'),
    )
    .option('--name <name>', 'name of the key in lists, emails and logs, such as "Greenhouse production"', parseKeyName)
    .option('--scopes <list>', `all, or a comma-separated list of ${allScopes.join(', ')} (default: all)`, parseScopes)
    .option(
      '--expires <time>',
      'expiry of the key as an ISO 8601 time (default: the key does not expire)',
      parseFutureTime,
    )
    .addOption(
      new Option(
        '--limits <preset>',
        'ci: a TEST key with the rate limits of a LIVE key, for automated tests (default: one tenth of them)',
      ).choices(LIMIT_PRESETS),
    )
    .addHelpText(
      ...examples(
        'key create --org ORG_… --mode test',
        'key create --org ORG_… --mode live --name "Greenhouse production"',
        'key create --org ORG_… --mode test --limits ci',
        'key create --org ORG_… --mode live --scopes mandates:read,results:read --expires 2030-01-31T00:00:00Z',
        'key create --org ORG_… --mode test --kind session',
      ),
    )
    .action(createKey)

  key
    .command('list')
    .description('List the keys of an organisation')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('key list --org ORG_…'))
    .action(async (options: { org: string }, command: Command) => {
      const keys = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, options.org)
        return listKeys(db.queries, options.org)
      })
      print(command, keys, () =>
        table(
          [
            ...['KEY', 'NAME', 'KIND', 'MODE', 'STATUS', 'SCOPES', 'EXPIRES', 'OLD SECRET VALID UNTIL', 'CREATED'],
            ...['LAST USED', 'ALLOWED FROM'],
          ],
          keys.map((row) => [
            row.key_id,
            row.name ?? '-',
            row.kind,
            row.mode,
            keyStatus(row, Date.now()),
            row.kind === 'partner' ? formatScopes(row.scopes) : '-',
            row.expires_at ?? 'never',
            dateIfInFuture(row.previous_secret_until) ?? '-',
            row.created_at,
            row.last_used_at ?? 'never',
            row.allowed_addresses ?? 'any address',
          ]),
          `${options.org} has no keys yet. Create one: npx attestry key create --org ${options.org} --mode test`,
        ),
      )
    })

  key
    .command('rename')
    .description('Name a key, or change its name')
    .argument('<key>', 'key ID, VFN_… or VSK_…')
    .argument('[name]', 'name of the key in lists, emails and logs', parseKeyName)
    .option('--remove', 'remove the name')
    .addHelpText(...examples('key rename VFN_LIVE_… "Greenhouse production"', 'key rename VFN_LIVE_… --remove'))
    .action(async (keyId: string, name: string | undefined, options: { remove?: boolean }, command: Command) => {
      if ((name === undefined) !== (options.remove === true))
        throw problem('VALIDATION_FAILED', 'Give either a name or --remove.')
      await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await renameKey(tx, keyId, name ?? null)
          const details = name === undefined ? {} : { key_name: name }
          await recordCliChange(tx, clock, {
            ...(await findKeyScope(tx, keyId)),
            action: 'key.rename',
            subject: keyId,
            details,
          })
        }),
      )
      print(command, { key_id: keyId, name: name ?? null }, () =>
        fieldList([
          ['Key', keyId],
          ['Name', name ?? '-'],
        ]),
      )
    })

  key
    .command('revoke')
    .description('Revoke a key (takes effect within one second)')
    .argument('<key>', 'key ID, VFN_… or VSK_…')
    .addHelpText(...examples('key revoke VFN_LIVE_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const revokedKey = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const result = await revokeKey(tx, clock, id)
          await recordCliChange(tx, clock, {
            ...(await findKeyScope(tx, result.keyId)),
            action: 'key.revoke',
            subject: result.keyId,
          })
          return result
        }),
      )
      print(
        command,
        { key_id: revokedKey.keyId, kind: revokedKey.kind, status: 'revoked' },
        () => `Revoked ${revokedKey.keyId}.`,
      )
    })

  key
    .command('rotate')
    .description('Rotate the secret of a partner key (the old secret stays valid for a grace period)')
    .argument('<key>', 'key ID, VFN_…')
    .option(
      '--grace-hours <hours>',
      'hours for which the old secret stays valid',
      wholeNumberParser(0, MAX_GRACE_HOURS),
      DEFAULT_GRACE_HOURS,
    )
    .addHelpText(...examples('key rotate VFN_LIVE_… --grace-hours 48'))
    .action(async (id: string, options: { graceHours: number }, command: Command) => {
      const rotatedKey = await withStore(({ db, vault, clock }) =>
        db.transaction(async (tx) => {
          const result = await rotateKey(tx, vault, clock, id, options.graceHours)
          await recordCliChange(tx, clock, { ...(await findKeyScope(tx, id)), action: 'key.rotate', subject: id })
          return result
        }),
      )
      print(command, { key_id: id, secret: rotatedKey.secret, previous_secret_until: rotatedKey.previousUntil }, () =>
        [
          fieldList([
            ['Key', id],
            ['New secret', rotatedKey.secret],
            ['Old secret valid until', rotatedKey.previousUntil],
          ]),
          '',
          'Store the new secret now; it is not shown again.',
        ].join('\n'),
      )
    })

  key
    .command('allow')
    .description('Show or set the IP addresses that a key may be used from (takes effect within one second)')
    .argument('<key>', 'key ID, VFN_… or VSK_…')
    .argument('[cidr...]', 'IP addresses or CIDR ranges, which replace the current ones')
    .option('--any', 'allow any address')
    .addHelpText(
      ...examples(
        'key allow VFN_LIVE_…',
        'key allow VFN_LIVE_… 203.0.113.7 198.51.100.0/24 2001:db8::/48',
        'key allow VFN_LIVE_… --any',
      ),
    )
    .action(allowAddresses)

  key.addCommand(limitsCommand())
  return key
}

async function createKey(options: CreateOptions, command: Command) {
  const { org: orgId, mode, kind, name, expires } = options
  if (kind === 'session' && options.scopes)
    throw problem('VALIDATION_FAILED', 'Session keys have no scopes; remove --scopes.')
  if (kind === 'session' && options.limits)
    throw problem('VALIDATION_FAILED', 'Session keys have the same limits in both modes; remove --limits.')
  const grantedScopes = options.scopes ?? [...allScopes]
  const createdKey = await withStore(({ config, db, vault, clock }) =>
    db.transaction(async (tx) => {
      const key = { orgId, mode, name, expiresAt: expires, maxDays: config.keyMaxDays }
      const newKey =
        kind === 'session'
          ? { ...(await createSessionKey(tx, clock, key)), secret: undefined }
          : {
              ...(await createPartnerKey(tx, vault, clock, {
                ...key,
                scopes: grantedScopes,
                preset: options.limits,
              })),
              key: undefined,
            }
      const details = name === undefined ? { kind } : { kind, key_name: name }
      await recordCliChange(tx, clock, { orgId, mode, action: 'key.create', subject: newKey.keyId, details })
      return newKey
    }),
  )
  const commonFields = {
    key_id: createdKey.keyId,
    name: name ?? null,
    kind,
    org_id: orgId,
    mode,
    expires_at: expires ?? null,
  }
  const record =
    kind === 'session'
      ? { ...commonFields, key: createdKey.key }
      : { ...commonFields, secret: createdKey.secret, scopes: grantedScopes }
  print(command, record, () =>
    [
      fieldList([
        ['Key', kind === 'session' ? createdKey.key : createdKey.keyId],
        ...(kind === 'session'
          ? ([['Key ID', createdKey.keyId]] as [string, string][])
          : ([
              ['Secret', createdKey.secret],
              ['Scopes', formatScopes(grantedScopes)],
            ] as [string, string][])),
        ...(name === undefined ? [] : ([['Name', name]] as [string, string][])),
        ['Mode', mode],
        ['Expires', expires ?? 'never'],
      ]),
      '',
      `Store the ${kind === 'session' ? 'key' : 'secret'} now; it is not shown again.`,
    ].join('\n'),
  )
}

async function allowAddresses(keyId: string, texts: string[], options: { any?: boolean }, command: Command) {
  if (options.any && texts.length > 0) throw problem('VALIDATION_FAILED', '--any cannot be combined with addresses.')
  if (texts.length > MAX_ALLOWED_RANGES)
    throw problem('VALIDATION_FAILED', `A key has at most ${MAX_ALLOWED_RANGES} allowed ranges; got ${texts.length}.`)
  const ranges = [...new Set(texts.map(parseRangeArgument))]
  const allowedAddresses = await withStore(({ db, clock }) =>
    db.transaction(async (tx) => {
      const scope = await findKeyScope(tx, keyId)
      if (!scope) throw problem('NOT_FOUND', `Key ${keyId} not found.`)
      if (options.any || ranges.length > 0) {
        await setAllowedAddresses(tx, keyId, options.any ? null : ranges)
        const details = { allowed_addresses: options.any ? null : ranges }
        await recordCliChange(tx, clock, { ...scope, action: 'key.allow', subject: keyId, details })
      }
      return (await listKeys(tx, scope.orgId)).find(({ key_id }) => key_id === keyId)!.allowed_addresses
    }),
  )
  print(command, { key_id: keyId, allowed_addresses: allowedAddresses }, () =>
    fieldList([
      ['Key', keyId],
      ['Allowed from', allowedAddresses?.join(', ') ?? 'any address'],
    ]),
  )
}

function parseRangeArgument(text: string): string {
  const parsed = parseAllowedRange(text)
  if ('error' in parsed) throw problem('VALIDATION_FAILED', `Invalid address range: ${parsed.error}.`)
  return parsed.range
}

function dateIfInFuture(date: Date | null): Date | undefined {
  return date && date.getTime() > Date.now() ? date : undefined
}

function formatScopes(granted: string[]) {
  return granted.length === allScopes.length ? 'all' : granted.join(',')
}
