import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Person, PersonExport } from '../../sdk/index.ts'
import { examples } from '../examples.ts'
import { parseEmail, parseName } from '../options.ts'
import { openPartnerApi, type PartnerCall, type PartnerOptions } from '../partner-call.ts'
import { fieldList, print, table } from '../print.ts'
import { NO_WAIT_OPTION } from '../rate-limit-retry.ts'

/** Options that are stored in the audit log: the legal basis and the requester. */
interface ReasonOptions {
  basis?: string
  requestedBy?: string
}

interface CorrectOptions extends ReasonOptions {
  name?: string
  phone?: string
  email?: string
}

const PERSON_ARGUMENT = ['<person>', 'ID of the person, PER_…'] as const
const BASIS_OPTION = ['--basis <text>', 'legal basis, for the audit log', parseBasis] as const
const REQUESTER_OPTION = [
  '--requested-by <text>',
  'requester, for the audit log; do not enter names or addresses',
  parseName,
] as const

export function peopleCommand(): Command {
  const people = new Command('people')
    .description(
      'Find, export, correct, restrict and erase people (uses the same credentials as "attestry request"; the key needs the scopes people:read and people:write)',
    )
    .addHelpText(
      ...examples(
        'people find --phone +919812345678',
        'people erase PER_… --basis "GDPR Article 17" --requested-by "data subject, ticket 4711"',
      ),
    )

  people
    .command('find')
    .description('Find the people who have a phone number or an email address')
    .addOption(
      new Option('--phone <number>', 'phone number, such as +919812345678').argParser(parsePhone).conflicts('email'),
    )
    .addOption(new Option('--email <address>', 'email address').argParser(parseEmail))
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people find --phone +919812345678', 'people find --email asha@example.com'))
    .action(async ({ phone, email }: { phone?: string; email?: string }, command: Command) => {
      if (phone === undefined && email === undefined) throw new Error('Set either --phone or --email.')
      const call = await open(command)
      const query = new URLSearchParams(phone === undefined ? { email: email! } : { phone })
      const { items } = await call<{ items: Person[] }>('GET', `/people?${query}`)
      print(command, items, () =>
        table(
          ['PERSON', 'STATUS', 'CANDIDATES', 'STUDENTS', 'REVIEWS', 'LEGAL HOLD', 'CREATED'],
          items.map((person) => [
            person.person_id,
            person.status,
            person.candidates.length,
            person.students.length,
            person.reviews.length,
            person.legal_hold,
            person.created_at,
          ]),
          `No person has this ${phone === undefined ? 'email address' : 'phone number'} in this organisation and mode.`,
        ),
      )
    })

  people
    .command('show')
    .description('Show the status and the records of a person, without personal values')
    .argument(...PERSON_ARGUMENT)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people show PER_…'))
    .action(async (id: string, _options: object, command: Command) => {
      printPerson(command, await getPerson(await open(command), id))
    })

  people
    .command('export')
    .description('Export all data that is stored about a person, as JSON or as a readable HTML page')
    .argument(...PERSON_ARGUMENT)
    .option('--html', 'write an HTML page')
    .option('--output <file>', 'file to create; it must not exist (default: standard output)')
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people export PER_… --html --output asha.html', 'people export PER_… > asha.json'))
    .action(async (id: string, { html, output }: { html?: boolean; output?: string }, command: Command) => {
      const call = await open(command)
      const query = html ? '?format=html' : ''
      const exported = await call<PersonExport>('GET', `${pathOf(id)}/export${query}`)
      const content = html ? exported.html! : `${JSON.stringify(exported, null, 2)}\n`
      if (output === undefined) {
        process.stdout.write(content)
        return
      }
      await createFile(output, content)
      print(command, { person_id: id, file: output }, () => `Wrote the data of ${id} to ${output}.`)
    })

  people
    .command('correct')
    .description('Correct the name, phone number or email address of a person in all records')
    .argument(...PERSON_ARGUMENT)
    .option('--name <name>', 'correct name', parseName)
    .option('--phone <number>', 'correct phone number, such as +919812345678', parsePhone)
    .option('--email <address>', 'correct email address', parseEmail)
    .option(...BASIS_OPTION)
    .option(...REQUESTER_OPTION)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people correct PER_… --name "Asha Verma" --requested-by "data subject, ticket 4711"'))
    .action(async (id: string, { name, phone, email, ...reason }: CorrectOptions, command: Command) => {
      if (name === undefined && phone === undefined && email === undefined)
        throw new Error('Set at least one of --name, --phone and --email.')
      const call = await open(command)
      const body = { name, phone, email, ...reasonBody(reason) }
      printPerson(command, await call<Person>('PATCH', pathOf(id), { body }), `Corrected ${id}.`)
    })

  people
    .command('restrict')
    .description('Restrict processing: the person is not contacted, and replies are not processed')
    .argument(...PERSON_ARGUMENT)
    .option(...BASIS_OPTION)
    .option(...REQUESTER_OPTION)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people restrict PER_… --basis "GDPR Article 18" --requested-by "data subject"'))
    .action(async (id: string, reason: ReasonOptions, command: Command) => {
      const call = await open(command)
      const person = await call<Person>('POST', `${pathOf(id)}/restrict`, { body: reasonBody(reason) })
      printPerson(command, person, `Restricted the processing of the data of ${id}.`)
    })

  people
    .command('unrestrict')
    .description('Lift the restriction of a person; messages that became due in the meantime are sent now')
    .argument(...PERSON_ARGUMENT)
    .option(...BASIS_OPTION)
    .option(...REQUESTER_OPTION)
    .option(...NO_WAIT_OPTION)
    .addHelpText(...examples('people unrestrict PER_… --requested-by "data subject"'))
    .action(async (id: string, reason: ReasonOptions, command: Command) => {
      const call = await open(command)
      const person = await call<Person>('POST', `${pathOf(id)}/unrestrict`, { body: reasonBody(reason) })
      printPerson(command, person, `Lifted the restriction of ${id}.`)
    })

  people
    .command('erase')
    .description('Erase a person permanently, so that no identifying data can be read; asks for confirmation')
    .argument(...PERSON_ARGUMENT)
    .requiredOption(...BASIS_OPTION)
    .requiredOption(...REQUESTER_OPTION)
    .option('--yes', 'erase without asking')
    .option(...NO_WAIT_OPTION)
    .addHelpText(
      ...examples('people erase PER_… --basis "GDPR Article 17" --requested-by "data subject, ticket 4711" --yes'),
    )
    .action(async (id: string, { yes, ...reason }: ReasonOptions & { yes?: boolean }, command: Command) => {
      if (!yes && !process.stdin.isTTY)
        throw new Error(
          'Nothing was erased: a confirmation is required, and standard input is not a terminal. Add --yes to erase without asking.',
        )
      const call = await open(command)
      if (!yes) await confirmErasure(await getPerson(call, id))
      const person = await call<Person>('POST', `${pathOf(id)}/erase`, { body: reasonBody(reason) })
      printPerson(command, person, `Erased ${id}.`)
    })
  return people
}

function open(command: Command): Promise<PartnerCall> {
  return openPartnerApi(command.optsWithGlobals<PartnerOptions>())
}

function pathOf(personId: string): string {
  return `/people/${encodeURIComponent(personId)}`
}

function getPerson(call: PartnerCall, personId: string): Promise<Person> {
  return call<Person>('GET', pathOf(personId))
}

function reasonBody({ basis, requestedBy }: ReasonOptions): { basis?: string; requested_by?: string } {
  return { ...(basis ? { basis } : {}), ...(requestedBy ? { requested_by: requestedBy } : {}) }
}

/** Asks the user on the terminal to confirm the erasure, and throws if they do not. */
async function confirmErasure(person: Person): Promise<void> {
  const { person_id, candidates, students, reviews } = person
  console.error(
    `${person_id} (candidacies: ${candidates.length}, student records: ${students.length}, reviews: ${reviews.length}). Erasing the person ends running conversations and sessions, and cannot be undone.`,
  )
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const confirmation = await terminal.question('Type "erase" to erase the person: ')
  terminal.close()
  if (confirmation.trim() !== 'erase') throw new Error('Nothing was erased.')
}

/** Writes a file that only the user can read, and does not replace an existing one. */
async function createFile(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${path} exists; delete it, or choose another file with --output`)
  }
}

function printPerson(command: Command, person: Person, message?: string): void {
  print(command, person, () => {
    const fields = fieldList([
      ['Person', person.person_id],
      ['Status', person.status],
      ['Legal hold', person.legal_hold ?? 'none'],
      ['Candidates', person.candidates.map(({ candidate_id }) => candidate_id).join(', ') || 'none'],
      ['Verifications', person.students.flatMap(({ verification_ids }) => verification_ids).join(', ') || 'none'],
      ['Reviews of', person.reviews.map(({ verification_id }) => verification_id).join(', ') || 'none'],
      ['Created', person.created_at],
      ...(person.restricted_at === null ? [] : ([['Restricted', person.restricted_at]] as [string, string][])),
      ...(person.erased_at === null ? [] : ([['Erased', person.erased_at]] as [string, string][])),
    ])
    return message === undefined ? fields : `${message}\n\n${fields}`
  })
}

function parsePhone(text: string): string {
  const number = text.replaceAll(/[\s()-]/g, '')
  if (!/^\+[1-9]\d{6,14}$/.test(number))
    throw new InvalidArgumentError('Expected a phone number with country code, such as +919812345678.')
  return number
}

function parseBasis(text: string): string {
  if (!text.trim() || [...text].length > 500)
    throw new InvalidArgumentError('Expected 1 to 500 characters, at least one of them not a space.')
  return text
}
