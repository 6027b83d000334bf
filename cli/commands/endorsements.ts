import { Command, Option } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import {
  getRing,
  listRings,
  noteRing,
  type RingStatus,
  ringStatuses,
  updateAllRings,
} from '../../server/verification/endorsements/rings.ts'
import { lockReviewed, withdrawEndorsement } from '../../server/verification/reviews/withdrawal.ts'
import { examples } from '../examples.ts'
import { parseMode, wholeNumberParser } from '../options.ts'
import { fieldList, print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { accountName, recordCliChange } from './audit.ts'

export function endorsementsCommand(): Command {
  const endorsements = new Command('endorsements')
    .description(
      'Show groups of people who endorse each other (nothing is rejected because of them), and withdraw endorsements',
    )
    .addHelpText(...examples('endorsements rings', 'endorsements ring RG_…'))

  endorsements
    .command('rings')
    .description('List rings of mutual endorsement, newest first (members are masked; recorded in the audit log)')
    .option('--mode <mode>', 'only rings of this mode: test or live', parseMode)
    .addOption(
      new Option('--status <status>', 'only rings with this status').choices([...ringStatuses]).default('open'),
    )
    .option('--limit <n>', 'maximum number of rings', wholeNumberParser(1, 1000), 25)
    .option('--detect', 'search all endorsements first, as the nightly job does')
    .addHelpText(...examples('endorsements rings --mode live', 'endorsements rings --detect'))
    .action(
      async (
        { mode, status, limit, detect }: { mode?: Mode; status: RingStatus; limit: number; detect?: true },
        command: Command,
      ) => {
        const rings = await withStore(async ({ db, clock }) => {
          if (detect) await updateAllRings({ db, clock })
          return db.transaction(async (tx) => {
            const found = await listRings(tx, { mode, status, limit })
            const details = { rings: found.map(({ ring_id }) => ring_id) }
            await recordCliChange(tx, clock, { action: 'rings.list', details })
            return found
          })
        })
        print(command, rings, () =>
          table(
            ['RING', 'MODE', 'KIND', 'PEOPLE', 'ENDORSEMENTS', 'MUTUAL PAIRS', 'SCORE', 'FOUND', 'NOTE'],
            rings.map(({ ring_id, mode: ringMode, kind, size, evidence, score, found_at, note }) => [
              ring_id,
              ringMode,
              kind,
              size,
              evidence.endorsements,
              evidence.reciprocal_pairs,
              score,
              found_at,
              note?.replace(/\s+/g, ' '),
            ]),
            `No rings with the status ${status}.`,
          ),
        )
      },
    )

  endorsements
    .command('ring')
    .description('Show the members, the evidence and the endorsements of a ring (recorded in the audit log)')
    .argument('<ring>', 'ring ID, RG_…')
    .addHelpText(...examples('endorsements ring RG_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const ring = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const found = await getRing(tx, id)
          await recordCliChange(tx, clock, { action: 'rings.view', subject: id })
          return found
        }),
      )
      print(command, ring, () => describeRing(ring))
    })

  endorsements
    .command('note')
    .description('Write a note about a ring, or dismiss it so that it no longer weakens the evidence')
    .argument('<ring>', 'ring ID, RG_…')
    .argument('<text>', 'the note, up to 2,000 characters')
    .addOption(new Option('--dismiss', 'mark the group as harmless').conflicts('reopen'))
    .option('--reopen', 'undo --dismiss')
    .addHelpText(...examples('endorsements note RG_… "One team, checked by phone" --dismiss'))
    .action(
      async (id: string, text: string, { dismiss, reopen }: { dismiss?: true; reopen?: true }, command: Command) => {
        const status = dismiss ? 'dismissed' : reopen ? 'open' : undefined
        const ring = await withStore(({ db, clock }) =>
          db.transaction(async (tx) => {
            const by = `cli:${accountName()}`
            const noted = await noteRing(tx, clock, id, { note: text.slice(0, 2000), status, by })
            await recordCliChange(tx, clock, { action: 'rings.note', subject: id, details: { status: noted.status } })
            return noted
          }),
        )
        print(command, ring, () => `Stored the note. The status of ${id} is ${ring.status}.`)
      },
    )

  endorsements
    .command('withdraw')
    .description(
      'Withdraw the endorsement of a verification, and revoke its credentials (recorded in the audit log; the student is not emailed)',
    )
    .argument('<verification>', 'verification ID, SV_…')
    .requiredOption('--reason <text>', 'shown to the student and the partner, up to 500 characters')
    .addHelpText(...examples('endorsements withdraw SV_… --reason "The reviewer did not know the student"'))
    .action(async (id: string, { reason }: { reason: string }, command: Command) => {
      if (!reason.trim() || reason.length > 500) throw new Error('--reason must have 1 to 500 characters.')
      const withdrawn = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const reviewed = await lockReviewed(tx, clock, id)
          const { session, skills } = await withdrawEndorsement(tx, reviewed, { by: 'operator', reason })
          const { orgId, mode } = session.scope
          await recordCliChange(tx, clock, { action: 'verification.withdraw', orgId, mode, subject: id })
          return { verification_id: id, status: session.status, skills }
        }),
      )
      print(command, withdrawn, () => `The endorsement of ${id} is withdrawn. Its credentials are revoked.`)
    })

  return endorsements
}

function describeRing(ring: Awaited<ReturnType<typeof getRing>>): string {
  const { evidence } = ring
  const fields = fieldList([
    ['Ring', `${ring.ring_id} (${ring.mode}, ${ring.kind}, ${ring.status})`],
    ['Score', String(ring.score)],
    ['Endorsements', `${evidence.endorsements} between members; ${evidence.expected_endorsements} expected by chance`],
    ['Mutual pairs', `${evidence.reciprocal_pairs}; shortest cycle ${evidence.shortest_cycle}`],
    ['Share from members', `${Math.round(evidence.inside_share * 100)} % of all endorsements that members received`],
    ['By manager, mentor, client or teacher', String(evidence.superior_relations)],
    ['Free mail', `${evidence.free_or_disposable_mail} from free or disposable mailboxes`],
    ['Quick answers', String(evidence.quick_answers)],
    ['Same device', `${evidence.same_device_or_network} from a device or network of the student`],
    ['Note', ring.note ? `${ring.note} (${ring.noted_by})` : '–'],
  ])
  const rows = ring.endorsements.map((row) => [
    row.reviewer,
    row.student,
    row.endorsement_type,
    row.verification_id,
    row.endorsed_at,
  ])
  return `${fields}\n\n${table(['REVIEWER', 'STUDENT', 'AS', 'VERIFICATION', 'WHEN'], rows, 'No endorsements.')}`
}
