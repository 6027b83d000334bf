import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import {
  type Behaviour,
  cloudError,
  startProvider,
  TWILIO,
  twilioError,
  WHATSAPP,
} from '../../test/support/provider.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import type { Config } from '../config.ts'
import { openPostOffice } from '../mail/smtp.ts'
import { LANGUAGES } from '../questions/questions.ts'
import { type Channel, type Outgoing, SendError } from './channel.ts'
import { openEmail } from './email/email.ts'
import { choiceIn, plainText } from './message-text.ts'
import { closeProviderConnections } from './provider.ts'
import { takePlace } from './send-rate.ts'
import { requireSettings, withoutSecrets } from './settings.ts'
import { openSms } from './twilio/sms.ts'
import { isSignedByTwilio, twilioSignature } from './twilio/twilio.ts'
import { openVoice } from './twilio/voice.ts'
import { whatsapp } from './whatsapp/whatsapp.ts'

const config = { publicUrl: 'https://verify.example.com', mailFrom: 'Attestry <no-reply@example.com>' } as Config
const LINK = 'https://verify.example.com/c/abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'

function outgoing(more: Partial<Outgoing> = {}): Outgoing {
  return {
    message_id: 'MS_01J00000000000000000000000',
    org_id: 'ORG_1',
    to: '+919812345678',
    name: 'Asha',
    language: 'en',
    prompts: [yesNo(3)],
    link: LINK,
    company: 'Metro Ltd',
    title: 'Electrician',
    ...more,
  }
}

function yesNo(step: number): Outgoing['prompts'][number] {
  const choices = [
    { value: 'yes', label: 'Yes' },
    { value: 'no', label: 'No' },
  ]
  return { step, kind: 'yes_no', text: 'Do you hold a licence?', choices }
}

function choices(labels: string[]): Outgoing['prompts'] {
  return [
    { step: 4, kind: 'notice', text: 'Now some questions.', choices: [] },
    {
      step: 4,
      kind: 'choices',
      text: 'Which?',
      choices: labels.map((label, value) => ({ value: String(value), label })),
    },
  ]
}

const ample = () => AbortSignal.timeout(10_000)

async function faultOf(channel: Channel, credentials: object, signal = ample(), message = outgoing()) {
  try {
    return { fault: 'none', ...(await channel.send(message, credentials, signal)) }
  } catch (error) {
    assert.ok(error instanceof SendError, String(error))
    return { fault: error.fault, message: error.message, retryAfter: error.retryAfter }
  }
}

test('WhatsApp: a template first, then buttons, lists and text within the limits', async (t) => {
  const { url, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const credentials = { ...WHATSAPP, base_url: `${url}/`, channel_id: 'CH_1' }
  const send = async (more: Partial<Outgoing>) => {
    const { providerId } = await whatsapp.send(outgoing(more), credentials, ample())
    const { body, id } = received.at(-1)!
    assert.equal(providerId, id)
    assert.equal(body.to, '919812345678')
    assert.equal(body.biz_opaque_callback_data, 'MS_01J00000000000000000000000')
    assert.ok(JSON.stringify(body).includes(LINK), 'every message carries the link')
    return body
  }
  const first = await send({ contactStep: 0, name: 'Asha\n\tDevi', language: 'hi' })
  assert.equal(first.template.name, 'job_questions')
  assert.equal(first.template.language.code, 'hi')
  assert.deepEqual(
    first.template.components[0].parameters.map(({ text }: any) => text),
    ['Asha Devi', 'Metro Ltd', 'Electrician', LINK],
  )
  assert.deepEqual(
    first.template.components.slice(1).map(({ parameters }: any) => parameters[0].payload),
    ['3:yes', '3:no'],
  )
  assert.equal((await send({ contactStep: 1, language: 'ta' })).template.language.code, 'en')

  const asked = await send({})
  assert.deepEqual(
    asked.interactive.action.buttons.map(({ reply }: any) => reply),
    [
      { id: '3:yes', title: 'Yes' },
      { id: '3:no', title: 'No' },
    ],
  )
  const list = await send({ prompts: choices(['Red', 'Green', 'Blue', 'Black']) })
  assert.equal(list.interactive.type, 'list')
  assert.deepEqual(list.interactive.action.sections[0].rows[3], { id: '4:3', title: 'Black' })
  const long = await send({ prompts: choices(['a', 'b', 'c', 'd'].map((letter) => letter.repeat(90))) })
  assert.equal(long.interactive.action.sections[0].rows[1].title, '2')
  assert.ok(long.interactive.body.text.includes(`2. ${'b'.repeat(90)}`), 'long options can be read whole')
  assert.equal((await send({ prompts: choices(Array.from({ length: 12 }, (_, n) => `L${n}`)) })).type, 'text')
  assert.equal((await send({ prompts: [{ ...yesNo(3), text: 'long '.repeat(400) }] })).type, 'text')
  const huge = await send({ prompts: [{ ...yesNo(3), text: 'très long '.repeat(900) }] })
  assert.ok(huge.text.body.endsWith(LINK))
  for (const language of LANGUAGES) await send({ language, prompts: choices(['अ'.repeat(80), 'b', 'c', 'd']) })
})

test('WhatsApp: every kind of refusal is what it is', async (t) => {
  const { url, script, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const credentials = { ...WHATSAPP, base_url: url, channel_id: 'CH_1' }
  const table: [Behaviour, string, number?][] = [
    [cloudError(400, 131026), 'unreachable'],
    [cloudError(429, 130429), 'busy', 5],
    [{ ...cloudError(429, 130429), headers: { 'retry-after': '17' } }, 'busy', 17],
    [cloudError(400, 131056), 'busy'],
    [cloudError(400, 80007), 'busy', 5],
    [cloudError(500, 131000), 'busy', 5],
    [cloudError(503, 2), 'busy', 5],
    [{ status: 503, body: 'come again', headers: { 'retry-after': '120' } }, 'busy', 120],
    [cloudError(401, 190), 'refused'],
    [cloudError(404, 132001), 'refused'],
    [cloudError(403, 131031), 'refused'],
    [cloudError(400, 131049), 'unreachable'],
    [{ status: 502, body: '<html>' }, 'unknown'],
    [cloudError(500, 1), 'unknown'],
    [{ status: 307, headers: { location: `${url}/elsewhere` } }, 'refused'],
    ['reset', 'unknown'],
  ]
  for (const [behaviour, fault, retryAfter] of table) {
    script.push(behaviour)
    const outcome = await faultOf(whatsapp, credentials)
    assert.deepEqual([outcome.fault, outcome.retryAfter], [fault, retryAfter], JSON.stringify(behaviour))
    assert.ok(!outcome.message!.includes(WHATSAPP.access_token))
  }
  assert.equal(received.length, table.length, 'nothing was repeated, no redirect followed')
  script.push('hang')
  assert.equal((await faultOf(whatsapp, credentials, AbortSignal.timeout(150))).fault, 'unknown')
  script.push('cut')
  assert.deepEqual(await faultOf(whatsapp, credentials), { fault: 'none', providerId: undefined })
  // Outside the day after somebody wrote, an answer goes out as a template: the refusal was definite.
  script.push(cloudError(400, 131047))
  assert.equal((await faultOf(whatsapp, credentials)).fault, 'none')
  assert.equal(received.at(-1)!.body.type, 'template')
  assert.equal((await faultOf(whatsapp, { token: 'of another kind' })).fault, 'refused')
})

test('what fails before anything is written may be sent again', async (t) => {
  t.after(closeProviderConnections)
  const listening = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  const { port } = listening.address() as { port: number }
  await new Promise((resolve) => listening.close(resolve))
  const at = (base_url: string) => ({ ...WHATSAPP, base_url, channel_id: 'CH_1' })
  assert.equal((await faultOf(whatsapp, at(`http://127.0.0.1:${port}`))).fault, 'busy', 'nobody listens')
  assert.equal((await faultOf(whatsapp, at('https://nowhere.invalid'))).fault, 'busy', 'no such host')
  const plain = createServer((socket) => void socket.on('error', () => {}).resetAndDestroy()).listen(0, '127.0.0.1')
  t.after(() => plain.close())
  await new Promise((resolve) => plain.once('listening', resolve))
  const tls = `https://127.0.0.1:${(plain.address() as { port: number }).port}`
  assert.equal((await faultOf(whatsapp, at(tls))).fault, 'busy', 'TLS never stood')
  assert.equal((await faultOf(whatsapp, at('http://127.0.0.1:1'), AbortSignal.abort())).fault, 'busy', 'too late')
})

test('Twilio: text messages and calls, and every kind of refusal', async (t) => {
  const { url, script, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const sms = openSms({ config })
  const credentials = { ...TWILIO, from: '+14155550100', base_url: url, channel_id: 'CH_1' }
  const sent = await sms.send(outgoing(), credentials, ample())
  assert.equal(sent.providerId, received[0]!.id)
  assert.deepEqual(received[0]!.body, {
    To: '+919812345678',
    From: '+14155550100',
    Body: `Do you hold a licence?\n\n1. Yes\n2. No\nReply with the number of your answer.\nAnswer here: ${LINK}`,
    StatusCallback: 'https://verify.example.com/hooks/twilio/CH_1/status/MS_01J00000000000000000000000',
  })
  await sms.send(outgoing({ prompts: [{ ...yesNo(1), text: 'बहुत '.repeat(900) }] }), credentials, ample())
  assert.ok(received[1]!.body.Body.endsWith(LINK))
  const service = { ...TWILIO, messaging_service_sid: `MG${'0'.repeat(32)}`, base_url: url, channel_id: 'CH_1' }
  await sms.send(outgoing(), service, ample())
  assert.equal(received[2]!.body.MessagingServiceSid, service.messaging_service_sid)
  assert.equal(received[2]!.body.From, undefined)

  const voice = openVoice({ config })
  await voice.send(outgoing(), credentials, ample())
  assert.deepEqual(received[3]!.body, {
    To: '+919812345678',
    From: '+14155550100',
    Url: 'https://verify.example.com/hooks/twilio/CH_1/voice/MS_01J00000000000000000000000',
    Method: 'POST',
    StatusCallback: 'https://verify.example.com/hooks/twilio/CH_1/status/MS_01J00000000000000000000000',
    StatusCallbackMethod: 'POST',
    StatusCallbackEvent: 'completed',
    Timeout: '30',
  })
  assert.equal((await faultOf(voice, credentials, ample(), outgoing({ language: 'or' }))).fault, 'refused')

  const table: [Behaviour, string, number?][] = [
    [twilioError(400, 21211), 'unreachable'],
    [twilioError(400, 21610), 'stopped'],
    [twilioError(400, 21614), 'unreachable'],
    [{ ...twilioError(429, 20429), headers: { 'retry-after': '3' } }, 'busy', 3],
    [twilioError(503, 20503), 'busy', 5],
    [twilioError(401, 20003), 'refused'],
    [twilioError(400, 21408), 'refused'],
    [twilioError(500, 20500), 'unknown'],
    ['reset', 'unknown'],
  ]
  for (const channel of [sms, voice]) {
    for (const [behaviour, fault, retryAfter] of table) {
      script.push(behaviour)
      const outcome = await faultOf(channel, credentials)
      assert.deepEqual([outcome.fault, outcome.retryAfter], [fault, retryAfter], JSON.stringify(behaviour))
      assert.ok(!outcome.message!.includes(TWILIO.auth_token))
    }
    script.push('hang')
    assert.equal((await faultOf(channel, credentials, AbortSignal.timeout(150))).fault, 'unknown')
  }
  assert.equal((await faultOf(sms, credentials, ample(), outgoing({ to: '+91' }))).fault, 'unreachable')
  assert.equal((await faultOf(sms, { ...credentials, auth_token: 'wrong-token' })).fault, 'refused')
})

test('the signature that Twilio documents', () => {
  const form = new URLSearchParams([
    ['CallSid', 'CA1234567890ABCDE'],
    ['Caller', '+12349013030'],
    ['Digits', '1234'],
    ['From', '+12349013030'],
    ['To', '+18005551212'],
  ])
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
  assert.equal(twilioSignature('12345', url, form), '0/KCTR6DLpKmkAf8muzZqo1nDgQ=')
  const ported = twilioSignature('12345', 'https://mycompany.com:443/myapp.php?foo=1&bar=2', form)
  assert.ok(isSignedByTwilio('12345', url, form, ported))
  assert.ok(!isSignedByTwilio('12345', url, form, 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='))
  assert.ok(!isSignedByTwilio('12345', url, form, undefined))
})

test('mail: by the organisation’s server or the deployment’s, and what the server says of it', async (t) => {
  const own = await startSmtp()
  const shared = await startSmtp()
  const postOffice = await openPostOffice(shared.url)
  const email = openEmail({ config, postOffice })
  t.after(async () => {
    email.close()
    postOffice.close()
    await own.stop()
    await shared.stop()
  })
  const title = 'Fitter\u202e\r\nBcc: all@example.com <b>'
  const name = 'Asha\r\nBcc: all@example.com\u200b \u202eRao'
  const message = outgoing({ to: 'asha@example.com', contactStep: 0, name, title, language: 'hi' })
  const settings = { smtp_url: own.url, from: 'Metro <jobs@metro.example>', channel_id: 'CH_1' }
  const sent = await email.send(message, settings, ample())
  assert.equal(sent.providerId, '<MS_01J00000000000000000000000@metro.example>')
  const mail = await PostalMime.parse(own.received[0]!)
  assert.equal(mail.from!.address, 'jobs@metro.example')
  assert.deepEqual(mail.to, [{ name: 'Asha Bcc: all@example.com Rao', address: 'asha@example.com' }])
  assert.equal(mail.bcc, undefined)
  assert.match(mail.subject!, /Fitter Bcc: all@example.com <b>/)
  assert.ok(mail.text!.includes(LINK))
  assert.ok(mail.html!.includes(`href="${LINK}"`))
  assert.ok(!mail.html!.includes('<b>'))
  await email.send(message, undefined, ample())
  assert.equal(shared.received.length, 1)
  assert.equal((await faultOf(openEmail({ config, postOffice: undefined }), {})).fault, 'refused')
})

test('mail: refusals, troubles and broken connections are told apart', async (t) => {
  let say: { responseCode: number } | undefined
  const smtp = await startSmtp({
    onRcptTo: (_address, _session, done) => done(say ? Object.assign(new Error('no'), say) : null),
  })
  const email = openEmail({ config, postOffice: undefined })
  t.after(async () => {
    email.close()
    await smtp.stop()
  })
  const settings = { smtp_url: smtp.url, from: 'jobs@metro.example', channel_id: 'CH_1' }
  const told = (to: object, signal = ample()) => faultOf(email, to, signal, outgoing({ to: 'asha@example.com' }))
  say = { responseCode: 550 }
  assert.equal((await told(settings)).fault, 'unreachable')
  say = { responseCode: 451 }
  assert.equal((await told(settings)).fault, 'busy')
  say = undefined
  assert.equal((await told(settings)).fault, 'none')
  assert.equal((await told({ ...settings, smtp_url: 'smtp://127.0.0.1:1' })).fault, 'busy')

  // A server that takes everything and then says nothing, or hangs up.
  for (const end of ['hang', 'hang up'] as const) {
    const sockets: Socket[] = []
    const odd = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      socket.write('220 odd\r\n')
      let data = false
      socket.on('data', (chunk) => {
        const text = chunk.toString()
        if (data) {
          if (text.includes('\r\n.\r\n') && end === 'hang up') socket.destroy()
        } else if (text.startsWith('DATA')) {
          data = true
          socket.write('354 go on\r\n')
        } else socket.write('250 ok\r\n')
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => odd.once('listening', resolve))
    const smtp_url = `smtp://127.0.0.1:${(odd.address() as { port: number }).port}`
    const outcome = await told({ ...settings, smtp_url }, AbortSignal.timeout(end === 'hang' ? 300 : 10_000))
    assert.equal(outcome.fault, 'unknown', end)
    for (const socket of sockets) socket.destroy()
    odd.close()
  }
})

test('settings: everything that is wrong is named, and no secret is shown', () => {
  const problems = (channel: Parameters<typeof requireSettings>[0], data: unknown): string[] => {
    try {
      requireSettings(channel, data)
      return []
    } catch (error) {
      return (error as { details: { path: string }[] }).details.map(({ path }) => path)
    }
  }
  assert.deepEqual(problems('whatsapp', WHATSAPP), [])
  assert.deepEqual(problems('whatsapp', { ...WHATSAPP, app_secret: undefined, phone: '1' }).sort(), [
    'app_secret',
    'phone',
  ])
  assert.deepEqual(problems('sms', { ...TWILIO }), ['from'])
  assert.deepEqual(problems('sms', { ...TWILIO, from: '+14155550100' }), [])
  assert.deepEqual(problems('voice', { ...TWILIO, from: 'Metro' }), ['from'])
  assert.deepEqual(problems('email', { smtp_url: 'http://x', from: 'a@b.example' }), ['smtp_url'])
  assert.deepEqual(problems('email', { smtp_url: 'smtps://a:b@mail.example:465', from: 'Jobs <a@b.example>' }), [])
  for (const base_url of [
    'http://10.0.0.1',
    'http://example.com',
    'ftp://x',
    'https://u:p@x.example',
    'https://x?y',
    'x',
  ])
    assert.deepEqual(problems('sms', { ...TWILIO, from: '+14155550100', base_url }), ['base_url'], base_url)
  for (const base_url of ['https://api.example.com', 'http://127.0.0.1:99', 'http://[::1]:99', 'http://localhost:99'])
    assert.deepEqual(problems('sms', { ...TWILIO, from: '+14155550100', base_url }), [], base_url)
  const seen = JSON.stringify(withoutSecrets(WHATSAPP))
  for (const secret of [WHATSAPP.access_token, WHATSAPP.app_secret, WHATSAPP.verify_token])
    assert.ok(!seen.includes(secret))
})

test('what is written is read back: numbers, labels, and words that are neither', () => {
  const question = { ...yesNo(1), choices: [...yesNo(1).choices, { value: 'skip', label: 'Skip' }] }
  assert.equal(choiceIn(question, ' 3. '), 'skip')
  assert.equal(choiceIn(question, 'skip'), 'skip')
  assert.equal(choiceIn(question, '4'), undefined)
  const words = {
    step: 1,
    kind: 'words' as const,
    text: 'How many years?',
    choices: [{ value: 'skip', label: 'Skip' }],
  }
  assert.equal(choiceIn(words, '1'), undefined, 'a number is an answer of its own')
  assert.equal(choiceIn(words, 'SKIP'), 'skip')
  assert.match(plainText(outgoing({ prompts: [words] }), 1600), /How many years\?\n\n• Skip\nAnswer here/)
})

test('nobody is sent more than the rate allows; places in the line hold, but not over night', () => {
  const sender = { org_id: 'ORG_pace', channel: 'sms' } as const
  const at = (id: number, now: number, rate = 2) => takePlace(sender, `MS_${id}`, rate, now)
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => at(id, 10_000)),
    [10_000, 10_000, 10_500, 11_000],
  )
  assert.equal(at(3, 10_200), 10_500, 'asked too early, it keeps its place')
  assert.equal(at(3, 10_500), 10_500)
  assert.equal(at(5, 10_500), 11_500)
  assert.equal(at(4, 100_000), 100_000, 'long past its time it lines up again')
  assert.equal(at(5, 100_000), 100_000)
  assert.equal(at(6, 100_000), 100_500)
  assert.equal(takePlace({ ...sender, org_id: 'ORG_other' }, 'MS_9', 2, 100_000), 100_000)
})
