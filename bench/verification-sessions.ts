import { Agent, request } from 'undici'
import { type BenchDeployment, makeDeployment } from './support/deployment.ts'
import { printRows, type Row } from './support/rows.ts'

const AT_ONCE = 50
const SECONDS = 6
/** A key opens 50 sessions a second: enough keys that the limit is not what is measured. The steps go by token, as in a browser. */
const KEYS = 16

/** Sessions carried from `POST /verify` to stored items (four calls), on the embedded database. */
export async function run(): Promise<Row[]> {
  const deployment = makeDeployment()
  const server = await deployment.start()
  const agent = new Agent({ connections: AT_ONCE, pipelining: 1 })
  try {
    const keys = makeKeys(deployment)
    const warm = await carry(server.url, agent, keys, 2)
    if (warm.sessions === 0) throw new Error('no session was carried through')
    const { sessions, milliseconds, took } = await carry(server.url, agent, keys, SECONDS)
    took.sort((a, b) => a - b)
    const at = (share: number) => took[Math.floor(took.length * share)]!
    return [
      {
        name: `sessions from open to stored items, ${AT_ONCE} at once`,
        value: (sessions * 1000) / milliseconds,
        unit: 'sessions a second',
        note: 'four calls each',
      },
      { name: 'one session, median', value: at(0.5), unit: 'ms' },
      { name: 'one session, 99 of 100', value: at(0.99), unit: 'ms' },
    ]
  } finally {
    await agent.close()
    await server.stop()
    deployment.remove()
  }
}

function makeKeys({ cli }: BenchDeployment): string[] {
  const { org_id } = cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
  return Array.from({ length: KEYS }, () => {
    const made = cli<Record<string, string>>('key', 'create', '--org', org_id, '--mode', 'live', '--kind', 'session')
    return Object.values(made).find((value) => /^VSK_LIVE_.{30,}/.test(value))!
  })
}

async function carry(url: string, agent: Agent, keys: string[], seconds: number) {
  const took: number[] = []
  const began = performance.now()
  const end = began + seconds * 1000
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        const number = next++
        const started = performance.now()
        await carryOne(number)
        took.push(performance.now() - started)
      }
    }),
  )
  return { sessions: took.length, milliseconds: performance.now() - began, took }

  async function carryOne(number: number) {
    const key = keys[number % keys.length]!
    const { sessionToken, serviceVerificationId } = await post(
      '/verify',
      { 'x-api-key': key },
      {
        externalStudentId: `student-${number}`,
        name: 'Asha Rao',
        email: 'asha@example.com',
        projects: [
          { externalProjectId: 'p-1', projectName: 'School hall', role: 'Mason', description: 'A hall of brick.' },
        ],
        workExperiences: [{ externalExperienceId: 'w-1', companyName: 'Metro Ltd', role: 'Fabricator' }],
      },
    )
    await post(
      '/step1/storeskills/store',
      {},
      {
        sessionToken,
        skills: [{ skillId: 'sk_1001', proofUrl: ['https://photos.example/1'] }, { skillId: 'sk_2001' }],
      },
    )
    await post(
      '/step2/verification-method',
      { 'x-session-token': sessionToken! },
      { serviceVerificationId, verificationMethod: 'human' },
    )
    await post('/step3/store-verification-items/store', {}, { sessionToken, workExperienceIds: ['w-1'] })

    async function post(path: string, headers: Record<string, string>, body: object): Promise<Record<string, string>> {
      const { statusCode, body: answer } = await request(`${url}/api/v1${path}`, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}: ${text}`)
      return JSON.parse(text).data
    }
  }
}

if (import.meta.main) printRows('verification-sessions', await run())
