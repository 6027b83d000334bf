import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { eraseAuditValue } from '../../server/console/audit.ts'
import {
  type BrokenEntry,
  type ChainHead,
  exportEntries,
  extendChain,
  verifyChain,
} from '../../server/console/audit-chain.ts'
import { examples } from '../examples.ts'
import { parseTime } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function auditCommand(): Command {
  const audit = new Command('audit')
    .description('Verify or export the audit log, or erase personal values from it')
    .addHelpText(...examples('audit verify', 'audit export --since 2026-01-01'))

  audit
    .command('verify')
    .description('Verify the hash chain of the audit log (exit code 1 if an entry was changed or removed)')
    .option(
      '--head <position:hash>',
      'also require this hash, from a log or from the metrics; can be repeated',
      collectHeads,
      [],
    )
    .addHelpText(...examples('audit verify', 'audit verify --head 1280:3f6c…'))
    .action(async ({ head: knownHeads }: { head: ChainHead[] }, command: Command) => {
      const report = await withStore(async ({ db }) => {
        await extendChain(db)
        return verifyChain(db.queries, knownHeads)
      })
      const { entries, head, erasedValues, broken } = report
      print(
        command,
        { valid: !broken, entries, head: head ?? null, erased_values: erasedValues, broken: broken ?? null },
        () => {
          if (broken) return `The audit log was tampered with. First broken entry: ${describeBroken(broken)}`
          if (!head) return 'The audit log is empty.'
          return `The audit log is intact: ${entries} ${entries === 1 ? 'entry' : 'entries'}, head ${head.position}:${head.hash}`
        },
      )
      if (broken) process.exitCode = 1
    })

  audit
    .command('export')
    .description('Print the entries as JSON lines, oldest first, with their hashes')
    .option('--since <time>', 'only entries from this time on', parseTime)
    .addHelpText(...examples('audit export', 'audit export --since 2026-01-01 > audit.jsonl'))
    .action(async ({ since }: { since?: Date }) => {
      await withStore(async ({ db, clock }) => {
        await db.transaction((tx) =>
          recordCliChange(tx, clock, { action: 'audit.export', details: { since: since?.toISOString() ?? null } }),
        )
        await extendChain(db)
        for await (const entry of exportEntries(db.queries, since?.getTime())) {
          if (!process.stdout.write(`${JSON.stringify(entry)}\n`)) await once(process.stdout, 'drain')
        }
      })
    })

  audit
    .command('erase')
    .description('Erase a personal value, such as an email address, from all entries (the hash chain stays intact)')
    .argument('<value>', 'the value to erase')
    .addHelpText(...examples('audit erase asha@example.com'))
    .action(async (value: string, _options: object, command: Command) => {
      const erasedCount = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const count = await eraseAuditValue(tx, value)
          await recordCliChange(tx, clock, { action: 'audit.erase', details: { entries: count } })
          return count
        }),
      )
      print(
        command,
        { entries: erasedCount },
        () => `Erased the value from ${erasedCount} ${erasedCount === 1 ? 'entry' : 'entries'}.`,
      )
    })

  return audit
}

function collectHeads(text: string, heads: ChainHead[]): ChainHead[] {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text)
  if (!match) throw new InvalidArgumentError('Expected a position, a colon and a hash of 64 hexadecimal digits.')
  return [...heads, { position: Number(match[1]), hash: match[2]! }]
}

function describeBroken({ position, audit_id, reason }: BrokenEntry): string {
  const location = [position === undefined ? undefined : `position ${position}`, audit_id].filter(Boolean).join(', ')
  return `${location}: ${reason}.`
}
