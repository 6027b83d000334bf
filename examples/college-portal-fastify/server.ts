import { randomUUID } from 'node:crypto'
import { AttestryClient, type VerificationChange, verifyWebhook, type WebhookEvent } from '@attestry/sdk'
import fastify from 'fastify'
import { type Student, sandboxScripts, students } from './students.ts'

const client = new AttestryClient() // reads ATTESTRY_URL, ATTESTRY_KEY_ID, ATTESTRY_SECRET and ATTESTRY_SESSION_KEY
const attestryUrl = process.env.ATTESTRY_URL!
const port = Number(process.env.PORT ?? 3000)
const publicUrl = process.env.PUBLIC_URL ?? `http://127.0.0.1:${port}`
/** The external ID of a student must be the same in every session. In TEST, a new prefix gives the sandbox new students. */
const idPrefix = process.env.STUDENT_PREFIX ?? randomUUID().slice(0, 8)
const app = fastify()

// The portal only receives webhooks and forms without fields, so every body is kept as bytes: the signature covers them.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

app.get('/', (_request, reply) => {
  const items = students.map(
    ({ id, name, verification }) => `<li><a href="/students/${id}">${name}</a> ${verification?.status ?? ''}</li>`,
  )
  return reply.type('text/html').send(page('Students', `<ul>${items.join('')}</ul>`))
})

/** The page to which the student returns (`returnUrl`). The status is read from Attestry, in case a webhook is late. */
app.get<{ Params: { id: string } }>('/students/:id', async ({ params, headers }, reply) => {
  const student = students.find(({ id }) => id === params.id)
  if (!student) return reply.status(404).send({ error: `Student ${params.id} not found.` })
  if (student.verification) {
    const { status, skills } = await client.verifications.get(student.verification.id)
    student.verification.status = status
    student.verification.skills = skills.map(({ name, outcome }) => `${name}: ${outcome}`)
  }
  if (headers.accept === 'application/json') return student
  return reply.type('text/html').send(studentPage(student))
})

/** Opens a session and sends the browser to the student's page. With a script, the session needs no browser. */
app.post<{ Params: { id: string }; Querystring: { script?: string } }>(
  '/students/:id/verification',
  async ({ params, query }, reply) => {
    const student = students.find(({ id }) => id === params.id)
    if (!student) return reply.status(404).send({ error: `Student ${params.id} not found.` })
    const testScript = query.script === undefined ? undefined : sandboxScripts[query.script]
    if (query.script !== undefined && !testScript)
      return reply.status(400).send({ error: `Unknown script; use one of ${Object.keys(sandboxScripts).join(', ')}.` })
    const returnUrl = `${publicUrl}/students/${student.id}`
    const session = await client.sessions.open({
      // A script needs a new student each time: a skill that was passed cannot be assessed again.
      externalStudentId: testScript ? `${student.id}-${randomUUID()}` : `${idPrefix}-${student.id}`,
      name: student.name,
      email: student.email,
      projects: student.projects.map(({ id, name, role }) => ({ externalProjectId: id, projectName: name, role })),
      returnUrl,
      ...(testScript ? { testScript } : {}),
    })
    student.verification = { id: session.serviceVerificationId, status: 'open', version: 0, skills: [] }
    // The token is a secret of the student: it belongs in the fragment, which browsers send to no server.
    return reply.redirect(testScript ? returnUrl : `${attestryUrl}/session#token=${session.sessionToken}`, 303)
  },
)

app.post<{ Body: Buffer }>('/webhooks/attestry', async ({ body, headers }, reply) => {
  let event: WebhookEvent
  try {
    event = await verifyWebhook(body, headers, endpoint.secret)
  } catch {
    return reply.status(401).send()
  }
  switch (event.type) {
    case 'verification.requested':
    case 'verification.initiated':
    case 'verification.completed':
    case 'verification.declined':
    case 'verification.failed':
    case 'verification.expired':
      console.log(`webhook verified: ${event.type}`)
      applyChange(event.data)
  }
  return reply.status(204).send()
})

/** Stores a status, unless a newer version is stored: events can arrive twice and in any order. */
function applyChange({ serviceVerificationId, status, version }: VerificationChange): void {
  const verification = students.find((student) => student.verification?.id === serviceVerificationId)?.verification
  if (verification && verification.version < version) Object.assign(verification, { status, version })
}

function studentPage({ id, name, verification }: Student): string {
  const buttons = Object.keys(sandboxScripts).map(
    (script) =>
      `<form method="post" action="/students/${id}/verification?script=${script}"><button>Simulate: ${script}</button></form>`,
  )
  const outcomes = verification?.skills.map((skill) => `<li>${skill}</li>`).join('') ?? ''
  return page(
    name,
    `<p>Status: ${verification?.status ?? 'not verified'}</p><ul>${outcomes}</ul>
    <form method="post" action="/students/${id}/verification"><button>Verify my skills</button></form>${buttons.join('')}`,
  )
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${body}</html>`
}

await app.listen({ host: '127.0.0.1', port })

// The endpoint is created at each start and archived at the end, because this example stores nothing. A real portal creates it once and keeps
// the secret.
const endpoint = await client.webhooks.create({
  url: `${publicUrl}/webhooks/attestry`,
  event_types: [
    'verification.requested',
    'verification.initiated',
    'verification.completed',
    'verification.declined',
    'verification.failed',
    'verification.expired',
  ],
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await client.webhooks.archive(endpoint.webhook_id).catch(console.error)
    process.exit()
  })
console.log(`Portal is running at ${publicUrl}`)
