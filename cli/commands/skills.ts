import { Command, InvalidArgumentError, Option } from 'commander'
import '../../server/mandates/skill-requests.ts'
import { skillId, subSkillNumber } from '../../server/catalogue/ids.ts'
import {
  approveRequest,
  listAllRequests,
  type RequestStatus,
  rejectRequest,
  requestStatuses,
  type SkillRequest,
} from '../../server/catalogue/skill-requests.ts'
import { skillsAlsoCalled } from '../../server/catalogue/store.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'
import { importCommand } from './skills-import.ts'

interface ApproveOptions {
  subSkill: number
  verifiable?: boolean
  description?: string
}

export function skillsCommand(): Command {
  const skills = new Command('skills')
    .description('the skill catalogue: imports, and skills that partners ask for')
    .addHelpText(...examples('skills import --format esco ./esco', 'skills requests'))
  skills.addCommand(importCommand())

  skills
    .command('requests')
    .description('skills that partners miss, oldest first')
    .addOption(
      new Option('--status <status>', 'which requests to show').choices([...requestStatuses, 'all']).default('pending'),
    )
    .addHelpText(...examples('skills requests --status all'))
    .action(async ({ status }: { status: RequestStatus | 'all' }, command: Command) => {
      const { found, others } = await withStore(async ({ db }) => {
        const found = await listAllRequests(db.queries, status === 'all' ? undefined : status)
        const pending = found.filter((row) => row.status === 'pending').map(({ name }) => name)
        return { found, others: await skillsAlsoCalled(db.queries, pending) }
      })
      print(command, found.map(record), () =>
        table(
          ['REQUEST', 'NAME', 'STATUS', 'SKILL', 'ORGANISATION', 'MODE', 'CREATED', 'CONTEXT'],
          found.map((row) => [
            row.request_id,
            row.name,
            row.status,
            record(row).skill_id ?? alsoCalled(others.get(row.name)),
            row.org_id,
            row.mode,
            row.created_at,
            row.context?.replace(/\s+/g, ' '),
          ]),
          status === 'pending' ? 'No skill request waits for a decision.' : 'There are no such skill requests.',
        ),
      )
    })

  skills
    .command('approve')
    .description('add the skill, for every organisation that asked for it; servers have it at once')
    .argument('<request>', 'SR_…')
    .requiredOption('--sub-skill <sub-skill>', 'where it belongs in the catalogue, ss_…', subSkill)
    .option('--verifiable', 'questions can be made for it')
    .option('--description <text>', 'one sentence that says what it is')
    .addHelpText(...examples('skills approve SR_… --sub-skill ss_201 --verifiable'))
    .action(async (id: string, { subSkill, ...rest }: ApproveOptions, command: Command) => {
      const { skill, requests, other } = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const approved = await approveRequest(tx, clock, id, { subNumber: subSkill, ...rest })
          const { number, name } = approved.skill
          const details = { skill_id: skillId(number), name }
          await noteCommand(tx, clock, { action: 'skill_request.approve', subject: id, details })
          const other = (await skillsAlsoCalled(tx, [name])).get(name)
          return { ...approved, other }
        }),
      )
      const value = {
        request_id: id,
        status: 'approved',
        skill_id: skillId(skill.number),
        name: skill.name,
        resolved: requests.map(({ request_id }) => request_id),
      }
      const others = requests.length - 1
      print(
        command,
        value,
        () =>
          `${value.name} is ${value.skill_id} from now on.${others > 0 ? ` ${others} more ${others === 1 ? 'request' : 'requests'} for it ${others === 1 ? 'is' : 'are'} settled with it.` : ''}${other ? ` It is another name of ${other.name} (${skillId(other.number)}), too: searches for it find both.` : ''}`,
      )
    })

  skills
    .command('reject')
    .description('turn a request down')
    .argument('<request>', 'SR_…')
    .addHelpText(...examples('skills reject SR_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const rejected = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const done = await rejectRequest(tx, clock, id)
          await noteCommand(tx, clock, { action: 'skill_request.reject', subject: id, details: { name: done.name } })
          return done
        }),
      )
      print(command, record(rejected), () => `${id} (${rejected.name}) is rejected.`)
    })

  return skills
}

/** A request for what is there under another name wants a second look. */
function alsoCalled(skill: { number: number; name: string } | undefined): string | undefined {
  return skill && `like ${skillId(skill.number)} ${skill.name}?`
}

function record({ request_id, name, context, status, skill_number, org_id, mode, created_at }: SkillRequest) {
  const skill_id = skill_number === null ? null : skillId(skill_number)
  return { request_id, name, context, status, skill_id, org_id, mode, created_at }
}

function subSkill(text: string): number {
  const number = subSkillNumber(text)
  if (number === undefined)
    throw new InvalidArgumentError(
      'Expected the id of a sub-skill, such as ss_201; GET /api/skills/sub-skills lists them.',
    )
  return number
}
