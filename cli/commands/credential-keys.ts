import { Command } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { didOf, type IssuerKey, listIssuerKeys } from '../../server/credentials/issuers/issuers.ts'
import { revokeKey, rotateKey } from '../../server/credentials/issuers/key-changes.ts'
import { examples } from '../examples.ts'
import { parseMode } from '../options.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface IssuerOptions {
  org: string
  mode: Mode
}

export function credentialKeysCommand(): Command {
  const keys = new Command('keys')
    .description('List, rotate and revoke the keys that sign the credentials of an organisation')
    .addHelpText(...examples('credential keys list --org ORG_…', 'credential keys rotate --org ORG_…'))

  issuerOptions(keys.command('list'))
    .description('List the keys, newest first')
    .addHelpText(...examples('credential keys list --org ORG_… --mode test'))
    .action(async ({ org, mode }: IssuerOptions, command: Command) => {
      const result = await withStore(async ({ db, config }) => {
        await getOrganisation(db.queries, org)
        const scope = { orgId: org, mode }
        // Without PUBLIC_URL, only the running server knows its address.
        const did = config.publicUrl === undefined ? null : didOf(config, scope)
        return { did, keys: await listIssuerKeys(db.queries, scope) }
      })
      print(command, { ...result, keys: result.keys.map(keyRecord) }, () =>
        table(
          ['KEY', 'NAME', 'STATUS', 'PUBLIC KEY', 'CREATED', 'RETIRED', 'REVOKED'],
          result.keys.map((key) => [
            key.key_id,
            `key-${key.number}`,
            key.status,
            key.public_key,
            key.created_at,
            key.retired_at,
            key.revoked_at,
          ]),
          `${org} has not issued ${mode.toUpperCase()} credentials yet; the first one creates a key.`,
        ),
      )
    })

  issuerOptions(keys.command('rotate'))
    .description('Sign with a new key from now on; credentials that the old key signed stay valid')
    .addHelpText(...examples('credential keys rotate --org ORG_… --mode live'))
    .action(async ({ org, mode }: IssuerOptions, command: Command) => {
      const key = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const rotated = await rotateKey(tx, clock, { orgId: org, mode })
          await recordCliChange(tx, clock, {
            action: 'credential_key.rotate',
            orgId: org,
            mode,
            subject: rotated.key_id,
          })
          return rotated
        }),
      )
      print(command, keyRecord(key), () => `${key.key_id} (key-${key.number}) signs from now on.`)
    })

  issuerOptions(keys.command('revoke'))
    .description('Revoke a key that others may know; what it signed becomes invalid and is issued again with a new key')
    .argument('<key>', 'key ID, CK_…')
    .addHelpText(...examples('credential keys revoke CK_… --org ORG_… --mode live'))
    .action(async (keyId: string, { org, mode }: IssuerOptions, command: Command) => {
      const { key, revokedCredentials } = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const revoked = await revokeKey(tx, clock, { orgId: org, mode }, keyId)
          const details = { revokedCredentials: revoked.revokedCredentials }
          await recordCliChange(tx, clock, {
            action: 'credential_key.revoke',
            orgId: org,
            mode,
            subject: keyId,
            details,
          })
          return revoked
        }),
      )
      print(
        command,
        { ...keyRecord(key), revoked_credentials: revokedCredentials },
        () =>
          `Revoked ${keyId} and ${revokedCredentials} credentials that it signed. Those that are still wanted are issued again with the new key.`,
      )
    })

  return keys
}

function issuerOptions(command: Command): Command {
  return command
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live', parseMode, 'live')
}

function keyRecord({ number, ...key }: IssuerKey) {
  return { ...key, name: `key-${number}` }
}
