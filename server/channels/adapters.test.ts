import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import PostalMime from 'postal-mime'
import { GUPSHUP, gupshupError, startIndianProviders } from '../../test/support/india.ts'
import {
  cloudError,
  EXOTEL,
  EXOTEL_VOICE,
  exotelError,
  type ProviderBehaviour,
  type ScriptedResponse,
  startProvider,
  TWILIO,
  twilioError,
  WHATSAPP,
  withTemplates,
} from '../../test/support/provider.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import type { Config } from '../config.ts'
import { openSmtp } from '../mail/smtp.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { openChannels, requireAllChannels } from './adapters.ts'
import {
  type ChannelAdapter,
  type ChannelAdapters,
  channelNames,
  type OutgoingMessage,
  SendError,
  type SendErrorReason,
} from './channel.ts'
import { openEmail } from './email/email.ts'
import { smsTextFor } from './invitation.ts'
import { isOptionNumber, matchChoice, plainText } from './message-text.ts'
import { closeProviderConnections } from './provider.ts'
import { redactSecrets, validateSettings } from './settings.ts'
import { openSms } from './sms.ts'
import { isSignedByTwilio, twilioSignature } from './twilio/twilio.ts'
import { openVoice } from './voice.ts'
import { whatsapp } from './whatsapp/whatsapp.ts'

const config = { publicUrl: 'https://verify.example.com', mailFrom: 'Attestry <no-reply@example.com>' } as Config
const LINK = 'https://verify.example.com/c/abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'

function outgoingMessage(overrides: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    message_id: 'MS_01J00000000000000000000000',
    org_id: 'ORG_1',
    to: '+919812345678',
    name: 'Asha',
    language: 'en',
    prompts: [yesNoPrompt(3)],
    link: LINK,
    unsubscribeUrl: 'https://verify.example.com/unsubscribe/abc',
    company: 'Metro Ltd',
    title: 'Electrician',
    minutes: 3,
    isRequested: false,
    asksConsent: true,
    isCode: false,
    ...overrides,
  }
}

function yesNoPrompt(step: number): OutgoingMessage['prompts'][number] {
  const choices = [
    { value: 'yes', label: 'Yes' },
    { value: 'no', label: 'No' },
  ]
  return { step, kind: 'yes_no', text: 'Do you hold a licence?', choices }
}

function choicePrompts(labels: string[]): OutgoingMessage['prompts'] {
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

const tenSecondTimeout = () => AbortSignal.timeout(10_000)

async function trySend(
  channel: ChannelAdapter,
  credentials: object,
  signal = tenSecondTimeout(),
  message = outgoingMessage(),
) {
  try {
    return { reason: 'none', ...(await channel.send(message, credentials, signal)) }
  } catch (error) {
    assert.ok(error instanceof SendError, String(error))
    return { reason: error.reason, message: error.message, retryAfter: error.retryAfter }
  }
}

test('WhatsApp: sends a template first, then buttons, lists and text within the limits', async (t) => {
  const { url, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const credentials = withTemplates('whatsapp', { ...WHATSAPP, base_url: `${url}/`, channel_id: 'CH_1' })
  const send = async (overrides: Partial<OutgoingMessage>) => {
    const { providerId } = await whatsapp.send(outgoingMessage(overrides), credentials, tenSecondTimeout())
    const { body, id } = received.at(-1)!
    assert.equal(providerId, id)
    assert.equal(body.to, '919812345678')
    assert.equal(body.biz_opaque_callback_data, 'MS_01J00000000000000000000000')
    assert.ok(JSON.stringify(body).includes(LINK), 'every message carries the link')
    return body
  }
  const templateMessage = await send({ followUpNumber: 0, name: 'Asha\n\tDevi', language: 'hi' })
  assert.equal(templateMessage.template.name, 'job_questions')
  assert.equal(templateMessage.template.language.code, 'hi')
  assert.deepEqual(
    templateMessage.template.components[0].parameters.map(({ text }: any) => text),
    ['Asha Devi', 'Metro Ltd', 'Electrician', LINK],
  )
  assert.deepEqual(
    templateMessage.template.components.slice(1).map(({ parameters }: any) => parameters[0].payload),
    ['3:yes', '3:no'],
  )
  assert.equal((await send({ followUpNumber: 1, language: 'ta' })).template.language.code, 'en')
  const buttonPayloads = (body: any) =>
    body.template.components.slice(1).map(({ parameters }: any) => parameters[0].payload)
  assert.deepEqual(buttonPayloads(await send({ followUpNumber: 1 })), ['3:yes', '3:no'])
  // "Yes" in a template never answers a later question, such as a knockout question.
  assert.deepEqual(buttonPayloads(await send({ followUpNumber: 1, asksConsent: false })), ['3:repeat', '3:later'])
  assert.equal((await send({ followUpNumber: 1, isRequested: true })).type, 'interactive')

  const buttonMessage = await send({})
  assert.deepEqual(
    buttonMessage.interactive.action.buttons.map(({ reply }: any) => reply),
    [
      { id: '3:yes', title: 'Yes' },
      { id: '3:no', title: 'No' },
    ],
  )
  const listMessage = await send({ prompts: choicePrompts(['Red', 'Green', 'Blue', 'Black']) })
  assert.equal(listMessage.interactive.type, 'list')
  assert.deepEqual(listMessage.interactive.action.sections[0].rows[3], { id: '4:3', title: 'Black' })
  const longOptionsMessage = await send({
    prompts: choicePrompts(['a', 'b', 'c', 'd'].map((letter) => letter.repeat(90))),
  })
  assert.equal(longOptionsMessage.interactive.action.sections[0].rows[1].title, '2')
  assert.ok(
    longOptionsMessage.interactive.body.text.includes(`2. ${'b'.repeat(90)}`),
    'long options are listed in full',
  )
  const numbersMessage = await send({ prompts: choicePrompts(['4', '2.5', '1', '12']) })
  assert.deepEqual(
    numbersMessage.interactive.action.sections[0].rows.map(({ title, description }: any) => [title, description]),
    [
      ['1', '4'],
      ['2', '2.5'],
      ['3', '1'],
      ['4', '12'],
    ],
    'options that are numbers are chosen by their own numbers',
  )
  assert.match(numbersMessage.interactive.body.text, /1\. 4\n2\. 2\.5\n3\. 1\n4\. 12/)
  assert.equal((await send({ prompts: choicePrompts(Array.from({ length: 12 }, (_, n) => `L${n}`)) })).type, 'text')
  assert.equal((await send({ prompts: [{ ...yesNoPrompt(3), text: 'long '.repeat(400) }] })).type, 'text')
  const longTextMessage = await send({ prompts: [{ ...yesNoPrompt(3), text: 'très long '.repeat(900) }] })
  assert.ok(longTextMessage.text.body.endsWith(LINK))
  for (const language of LANGUAGES) await send({ language, prompts: choicePrompts(['अ'.repeat(80), 'b', 'c', 'd']) })
})

test('WhatsApp: provider errors map to the right reason', async (t) => {
  const { url, nextBehaviours, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const credentials = withTemplates('whatsapp', { ...WHATSAPP, base_url: url, channel_id: 'CH_1' })
  const cases: [ProviderBehaviour, string, number?][] = [
    [cloudError(400, 131026), 'unreachable'],
    [cloudError(429, 130429), 'busy', 5],
    [{ ...cloudError(429, 130429), headers: { 'retry-after': '17' } }, 'busy', 17],
    [cloudError(400, 131056), 'busy'],
    [cloudError(400, 80007), 'busy', 5],
    [cloudError(500, 131000), 'busy', 5],
    [cloudError(503, 2), 'busy', 5],
    [{ status: 503, body: 'try later', headers: { 'retry-after': '120' } }, 'busy', 120],
    [cloudError(401, 190), 'rejected'],
    [cloudError(404, 132001), 'rejected'],
    [cloudError(403, 131031), 'rejected'],
    [cloudError(400, 131049), 'unreachable'],
    [{ status: 502, body: '<html>' }, 'unknown'],
    [cloudError(500, 1), 'unknown'],
    [{ status: 307, headers: { location: `${url}/elsewhere` } }, 'rejected'],
    ['reset', 'unknown'],
  ]
  for (const [behaviour, reason, retryAfter] of cases) {
    nextBehaviours.push(behaviour)
    const outcome = await trySend(whatsapp, credentials)
    assert.deepEqual([outcome.reason, outcome.retryAfter], [reason, retryAfter], JSON.stringify(behaviour))
    assert.ok(!outcome.message!.includes(WHATSAPP.access_token))
  }
  assert.equal(received.length, cases.length, 'no request is repeated and no redirect is followed')
  nextBehaviours.push('hang')
  assert.equal((await trySend(whatsapp, credentials, AbortSignal.timeout(150))).reason, 'unknown')
  // The HTTP client checks its own timeouts about once a second.
  nextBehaviours.push(() => pause(1200, undefined))
  assert.equal((await trySend(whatsapp, credentials)).reason, 'none', 'only the signal limits the time of a send')
  nextBehaviours.push('cut')
  assert.deepEqual(await trySend(whatsapp, credentials), { reason: 'none', providerId: undefined })
  // Outside the 24-hour window, the message is sent again as a template, because the error means that nothing was sent.
  nextBehaviours.push(cloudError(400, 131047))
  assert.equal((await trySend(whatsapp, credentials)).reason, 'none')
  assert.equal(received.at(-1)!.body.type, 'template')
  assert.equal((await trySend(whatsapp, { token: 'for another channel' })).reason, 'rejected')
})

test('a failure before the request is written is safe to retry', async (t) => {
  t.after(closeProviderConnections)
  const closedServer = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closedServer.once('listening', resolve))
  const { port } = closedServer.address() as { port: number }
  await new Promise((resolve) => closedServer.close(resolve))
  const credentialsFor = (base_url: string) => withTemplates('whatsapp', { ...WHATSAPP, base_url, channel_id: 'CH_1' })
  assert.equal(
    (await trySend(whatsapp, credentialsFor(`http://127.0.0.1:${port}`))).reason,
    'busy',
    'connection refused',
  )
  assert.equal((await trySend(whatsapp, credentialsFor('https://nowhere.invalid'))).reason, 'busy', 'unknown host')
  const serverWithoutTls = createServer((socket) => void socket.on('error', () => {}).resetAndDestroy()).listen(
    0,
    '127.0.0.1',
  )
  t.after(() => serverWithoutTls.close())
  await new Promise((resolve) => serverWithoutTls.once('listening', resolve))
  const httpsUrl = `https://127.0.0.1:${(serverWithoutTls.address() as { port: number }).port}`
  assert.equal((await trySend(whatsapp, credentialsFor(httpsUrl))).reason, 'busy', 'TLS handshake failed')
  assert.equal(
    (await trySend(whatsapp, credentialsFor('http://127.0.0.1:1'), AbortSignal.abort())).reason,
    'busy',
    'already aborted',
  )
})

test('Twilio: sends text messages and calls, and provider errors map to the right reason', async (t) => {
  const { url, nextBehaviours, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const sms = openSms({ config })
  const credentials = { ...TWILIO, from: '+14155550100', base_url: url, channel_id: 'CH_1' }
  const foreignNumber = { to: '+447700900123' }
  const sendResult = await sms.send(outgoingMessage(foreignNumber), credentials, tenSecondTimeout())
  assert.equal(sendResult.providerId, received[0]!.id)
  assert.deepEqual(received[0]!.body, {
    To: '+447700900123',
    From: '+14155550100',
    Body: `Do you hold a licence?\n\n1. Yes\n2. No\nReply with the number of your answer.\nAnswer here: ${LINK}`,
    StatusCallback: 'https://verify.example.com/hooks/twilio/CH_1/status/MS_01J00000000000000000000000',
  })
  await sms.send(
    outgoingMessage({ ...foreignNumber, prompts: [{ ...yesNoPrompt(1), text: 'बहुत '.repeat(900) }] }),
    credentials,
    tenSecondTimeout(),
  )
  assert.ok(received[1]!.body.Body.endsWith(LINK))
  const serviceCredentials = {
    ...TWILIO,
    messaging_service_sid: `MG${'0'.repeat(32)}`,
    base_url: url,
    channel_id: 'CH_1',
  }
  await sms.send(outgoingMessage(foreignNumber), serviceCredentials, tenSecondTimeout())
  assert.equal(received[2]!.body.MessagingServiceSid, serviceCredentials.messaging_service_sid)
  assert.equal(received[2]!.body.From, undefined)

  const voice = openVoice({ config })
  await voice.send(outgoingMessage(foreignNumber), credentials, tenSecondTimeout())
  assert.deepEqual(received[3]!.body, {
    To: '+447700900123',
    From: '+14155550100',
    Url: 'https://verify.example.com/hooks/twilio/CH_1/voice/MS_01J00000000000000000000000',
    Method: 'POST',
    StatusCallback: 'https://verify.example.com/hooks/twilio/CH_1/status/MS_01J00000000000000000000000',
    StatusCallbackMethod: 'POST',
    StatusCallbackEvent: 'completed',
    Timeout: '30',
  })
  assert.equal(
    (await trySend(voice, credentials, tenSecondTimeout(), outgoingMessage({ language: 'or' }))).reason,
    'rejected',
  )

  const cases: [ProviderBehaviour, string, number?][] = [
    [twilioError(400, 21211), 'unreachable'],
    [twilioError(400, 21610), 'stopped'],
    [twilioError(400, 21614), 'unreachable'],
    [{ ...twilioError(429, 20429), headers: { 'retry-after': '3' } }, 'busy', 3],
    [twilioError(503, 20503), 'busy', 5],
    [twilioError(401, 20003), 'rejected'],
    [twilioError(400, 21408), 'rejected'],
    [twilioError(500, 20500), 'unknown'],
    [{ status: 502, body: '<html>' }, 'unknown'],
    ['reset', 'unknown'],
  ]
  for (const channel of [sms, voice]) {
    for (const [behaviour, reason, retryAfter] of cases) {
      nextBehaviours.push(behaviour)
      const outcome = await trySend(channel, credentials, tenSecondTimeout(), outgoingMessage(foreignNumber))
      assert.deepEqual([outcome.reason, outcome.retryAfter], [reason, retryAfter], JSON.stringify(behaviour))
      assert.ok(!outcome.message!.includes(TWILIO.auth_token))
    }
    nextBehaviours.push('hang')
    const timeout = AbortSignal.timeout(150)
    assert.equal((await trySend(channel, credentials, timeout, outgoingMessage(foreignNumber))).reason, 'unknown')
  }
  assert.equal(
    (await trySend(sms, credentials, tenSecondTimeout(), outgoingMessage({ to: '+44' }))).reason,
    'unreachable',
  )
  const wrongToken = { ...credentials, auth_token: 'wrong-token' }
  assert.equal(
    (await trySend(sms, wrongToken, tenSecondTimeout(), outgoingMessage(foreignNumber))).message,
    'HTTP 401, 20003, rejected',
  )

  const requestCount = received.length
  for (const account of [credentials, serviceCredentials]) {
    const { reason, message } = await trySend(sms, account)
    assert.deepEqual(
      [reason, message],
      [
        'rejected',
        'SMS to India through Twilio are refused, because mobile operators require a registered header and a registered text. Set up Exotel or Gupshup for SMS to India, and register the texts.',
      ],
    )
  }
  assert.equal(received.length, requestCount, 'nothing was sent to India')
})

test('the text of an SMS with a confirmation code has neither a link nor options', () => {
  const text = '482910 is your code to see your data at Acme. Do not give it to anyone.'
  const prompts = [{ step: 1, kind: 'notice' as const, text, choices: [], isCode: true, code: '482910' }]
  for (const to of ['+919812345678', '+447700900123'])
    assert.equal(smsTextFor(outgoingMessage({ to, prompts, isCode: true, code: '482910' }), 1600), text)
})

test('the text of an SMS that cannot be answered has the link and no question', () => {
  assert.equal(smsTextFor(outgoingMessage({ asksConsent: false }), 1600), `Answer here: ${LINK}`)
  const notice = { step: 0, kind: 'notice' as const, text: 'This is an automated message.', choices: [] }
  assert.equal(
    smsTextFor(outgoingMessage({ prompts: [notice, yesNoPrompt(1)], asksConsent: false }), 1600),
    `This is an automated message.\n\nAnswer here: ${LINK}`,
  )
})

test('Exotel: a call has the flow and a caller ID of an Indian series, and errors map to the right reason', async (t) => {
  const { url, nextBehaviours, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const voice = openVoice({ config })
  const credentials = { ...EXOTEL_VOICE, base_url: url, channel_id: 'CH_1' }
  const { providerId } = await voice.send(outgoingMessage(), credentials, tenSecondTimeout())
  assert.equal(providerId, received[0]!.id)
  assert.equal(received[0]!.path, '/v1/Accounts/metro1/Calls/connect.json')
  const { StatusCallback, ...form } = received[0]!.body
  assert.match(StatusCallback, /^https:\/\/verify\.example\.com\/hooks\/exotel\/CH_1\/status\/MS_\w{26}\/[\w-]{43}$/)
  assert.deepEqual(form, {
    From: '+919812345678',
    CallerId: '01409123456',
    Url: 'http://my.exotel.com/metro1/exoml/start_voice/29281',
    TimeOut: '30',
    TimeLimit: '1800',
    'StatusCallbackEvents[0]': 'terminal',
    StatusCallbackContentType: 'application/json',
    CustomField: 'MS_01J00000000000000000000000',
  })
  const serviceCall = await trySend(voice, { ...credentials, from: '+911600123456', ring_seconds: 20 })
  assert.deepEqual(
    [serviceCall.reason, received[1]!.body.CallType, received[1]!.body.TimeOut],
    ['rejected', 'trans', '20'],
  )
  assert.match(serviceCall.message!, /HTTP 403, FORBIDDEN, CallerId is not an ExoPhone of this account/)

  const cases: [ProviderBehaviour, string, number?][] = [
    [exotelError(400, 'INVALID_NUMBER'), 'rejected'],
    [exotelError(401, 'UNAUTHORIZED'), 'rejected'],
    [exotelError(403, 'FORBIDDEN'), 'rejected'],
    [exotelError(429, 'TOO_MANY_REQUESTS'), 'busy', 5],
    [{ ...exotelError(429, 'TOO_MANY_REQUESTS'), headers: { 'retry-after': '60' } }, 'busy', 60],
    [exotelError(500, 'INTERNAL'), 'unknown'],
    [{ status: 502, body: '<html>' }, 'unknown'],
    ['reset', 'unknown'],
  ]
  for (const [behaviour, reason, retryAfter] of cases) {
    nextBehaviours.push(behaviour)
    const outcome = await trySend(voice, credentials)
    assert.deepEqual([outcome.reason, outcome.retryAfter], [reason, retryAfter], JSON.stringify(behaviour))
    assert.ok(!outcome.message!.includes(EXOTEL.api_token))
  }

  const requestCount = received.length
  for (const [settings, message, expected] of [
    [{ from: '08012345678' }, {}, /Calls to India from 08012345678 are refused, because of the numbering rules/],
    [{ from: '+912212345678' }, {}, /numbering rules/],
    [{}, { language: 'hi' }, /no voice available for language hi/],
    [{}, { to: '+447700900123' }, /Exotel calls Indian numbers only/],
  ] as const) {
    const outcome = await trySend(
      voice,
      { ...credentials, ...settings },
      tenSecondTimeout(),
      outgoingMessage(message as Partial<OutgoingMessage>),
    )
    assert.equal(outcome.reason, 'rejected')
    assert.match(outcome.message!, expected)
  }
  const withoutUrl = openVoice({ config: { ...config, publicUrl: undefined } as Config })
  assert.match((await trySend(withoutUrl, credentials)).message!, /PUBLIC_URL is not set/)
  assert.equal(received.length, requestCount, 'nothing was sent')
})

test('Exotel: messages have the registered text, and errors map to the right reason', async (t) => {
  const { url, nextBehaviours, received } = await startProvider(t)
  t.after(closeProviderConnections)
  const sms = openSms({ config })
  const settingsOfExotel = { ...EXOTEL, listed_hosts: ['verify.example.com'], base_url: url, channel_id: 'CH_1' }
  const credentials = withTemplates('sms', settingsOfExotel)
  const bodyOf = async (overrides: Partial<OutgoingMessage>) => {
    nextBehaviours.push({ status: 200, body: { SMSMessage: { Sid: 'abc' } } })
    const accepted = await sms.send(outgoingMessage(overrides), credentials, tenSecondTimeout())
    const { Body, EncodingType, SmsType, DltTemplateId } = received.at(-1)!.body
    assert.deepEqual(accepted, { providerId: 'abc', templateId: DltTemplateId })
    return [Body, EncodingType, SmsType]
  }
  assert.deepEqual(await bodyOf({ followUpNumber: 0, title: 'Electrician (ITI) / fitter for the metro depot' }), [
    `Acme Staffing invites you to answer a few questions about the job of Electrician ITI fitter for the. Answer here: ${LINK}`,
    'plain',
    'transactional_opt_in',
  ])
  assert.deepEqual(await bodyOf({ followUpNumber: 0, language: 'hi' }), [
    `Acme Staffing: Electrician की नौकरी के लिए कुछ सवालों के जवाब दें: ${LINK}`,
    'unicode',
    'transactional_opt_in',
  ])
  assert.match((await bodyOf({ followUpNumber: 1, language: 'hi' }))[0], /^Acme Staffing is still waiting/)
  nextBehaviours.push({ status: 200, body: {} })
  const withoutId = await sms.send(outgoingMessage({ followUpNumber: 0 }), credentials, tenSecondTimeout())
  assert.equal(withoutId.providerId, undefined, 'the message was accepted, and must not be sent again')
  const notice = { step: 1, kind: 'notice' as const, text: 'Jobs 2024: your code is 482910.', choices: [] }
  assert.deepEqual(await bodyOf({ isCode: true, code: '482910', prompts: [notice] }), [
    '482910 is your code for your request to Acme Staffing.',
    'plain',
    'transactional',
  ])

  const cases: [ProviderBehaviour, SendErrorReason, number?][] = [
    [exotelError(400, 'DLT_TEMPLATE'), 'rejected'],
    [exotelError(401, 'UNAUTHORIZED'), 'rejected'],
    [exotelError(429, 'TOO_MANY_REQUESTS'), 'busy', 5],
    [exotelError(503, 'UNAVAILABLE'), 'busy', 5],
    [exotelError(500, 'INTERNAL'), 'unknown'],
    [{ status: 502, body: '<html>' }, 'unknown'],
    ['reset', 'unknown'],
  ]
  for (const [behaviour, reason, retryAfter] of cases) {
    nextBehaviours.push(behaviour)
    const outcome = await trySend(sms, credentials)
    assert.deepEqual([outcome.reason, outcome.retryAfter], [reason, retryAfter], JSON.stringify(behaviour))
    assert.ok(!outcome.message!.includes(EXOTEL.api_token))
  }

  const sentCount = received.length
  for (const [settings, overrides, message] of [
    [{ listed_hosts: ['example.org'] }, {}, /host verify\.example\.com of the link is not in listed_hosts/],
    [{ templates: EXOTEL.templates.slice(3) }, {}, /no DLT template is registered for invitation/],
    [{ templates: EXOTEL.templates.slice(0, 3) }, { isCode: true }, /no DLT template is registered for code/],
    [{}, { isCode: true }, /no confirmation code for \{code\}/],
    [{}, { to: '+447700900123' }, /Indian numbers only/],
  ] as const) {
    const text = outgoingMessage({ followUpNumber: 0, ...overrides })
    const outcome = await trySend(
      sms,
      withTemplates('sms', { ...settingsOfExotel, ...settings }),
      tenSecondTimeout(),
      text,
    )
    assert.equal(outcome.reason, 'rejected')
    assert.match(outcome.message!, message)
  }
  assert.equal(received.length, sentCount, 'the violations were refused before sending')
})

test('Gupshup: errors, which have the status 200, map to the right reason', async (t) => {
  const india = await startIndianProviders(t, { now: () => Date.parse('2026-03-11T06:30:00.000Z') })
  t.after(closeProviderConnections)
  const sms = openSms({ config })
  const credentials = withTemplates('sms', {
    ...GUPSHUP,
    listed_hosts: ['verify.example.com'],
    templates: EXOTEL.templates,
    base_url: india.url,
    channel_id: 'CH_1',
  })
  const cases: [ScriptedResponse, SendErrorReason | 'none', number?][] = [
    [gupshupError('102', 'Authentication failed'), 'rejected'],
    [gupshupError('105', 'The phone number is invalid'), 'unreachable'],
    [gupshupError('100', 'Unknown error'), 'unknown'],
    [{ status: 429 }, 'busy', 5],
    [{ status: 503, headers: { 'retry-after': '60' } }, 'busy', 60],
    [{ status: 500 }, 'unknown'],
    [{ status: 403 }, 'rejected'],
    [{ status: 200, body: 'success' }, 'unknown'],
    [{ status: 200, body: { response: { id: '1-2', status: 'success' } } }, 'none'],
  ]
  for (const [response, reason, retryAfter] of cases) {
    india.nextResponses.push(response)
    const outcome: { reason: string; retryAfter?: number | undefined; message?: string } = await trySend(
      sms,
      credentials,
    )
    assert.deepEqual([outcome.reason, outcome.retryAfter], [reason, retryAfter], JSON.stringify(response))
    assert.ok(!outcome.message?.includes(GUPSHUP.password))
  }
  const abroad = await trySend(sms, credentials, tenSecondTimeout(), outgoingMessage({ to: '+447700900123' }))
  assert.equal(abroad.reason, 'rejected')
})

test('Twilio: the signature matches the documented example', () => {
  const form = new URLSearchParams([
    ['CallSid', 'CA1234567890ABCDE'],
    ['Caller', '+12349013030'],
    ['Digits', '1234'],
    ['From', '+12349013030'],
    ['To', '+18005551212'],
  ])
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
  assert.equal(twilioSignature('12345', url, form), '0/KCTR6DLpKmkAf8muzZqo1nDgQ=')
  const signatureWithPort = twilioSignature('12345', 'https://mycompany.com:443/myapp.php?foo=1&bar=2', form)
  assert.ok(isSignedByTwilio('12345', url, form, signatureWithPort))
  assert.ok(!isSignedByTwilio('12345', url, form, 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='))
  assert.ok(!isSignedByTwilio('12345', url, form, undefined))
})

test('email: messages are sent through the SMTP server of the organisation or else of the deployment', async (t) => {
  const ownServer = await startSmtp()
  const sharedServer = await startSmtp()
  const smtp = await openSmtp(sharedServer.url)
  const email = openEmail({ config, smtp })
  t.after(async () => {
    email.close()
    smtp.close()
    await ownServer.stop()
    await sharedServer.stop()
  })
  const title = 'Fitter\u202e\r\nBcc: all@example.com <b>'
  const name = 'Asha\r\nBcc: all@example.com\u200b \u202eRao'
  const message = outgoingMessage({ to: 'asha@example.com', followUpNumber: 0, name, title, language: 'hi' })
  const settings = { smtp_url: ownServer.url, from: 'Metro <jobs@metro.example>', channel_id: 'CH_1' }
  const sendResult = await email.send(message, settings, tenSecondTimeout())
  assert.equal(sendResult.providerId, '<MS_01J00000000000000000000000@metro.example>')
  const receivedEmail = await PostalMime.parse(ownServer.received[0]!)
  assert.equal(receivedEmail.from!.address, 'jobs@metro.example')
  assert.deepEqual(receivedEmail.to, [{ name: 'Asha Bcc: all@example. com Rao', address: 'asha@example.com' }])
  assert.equal(receivedEmail.bcc, undefined)
  assert.match(receivedEmail.subject!, /Fitter Bcc: all@example\. com <b>/)
  assert.ok(receivedEmail.text!.includes(LINK))
  assert.ok(receivedEmail.html!.includes(`href="${LINK}"`))
  assert.ok(!receivedEmail.html!.includes('<b>'))
  await email.send(message, undefined, tenSecondTimeout())
  assert.equal(sharedServer.received.length, 1)
  assert.equal((await trySend(openEmail({ config, smtp: undefined }), {})).reason, 'rejected')
})

test('email: rejections, temporary errors and broken connections map to different reasons', async (t) => {
  let recipientError: { responseCode: number } | undefined
  const smtp = await startSmtp({
    onRcptTo: (_address, _session, done) =>
      done(recipientError ? Object.assign(new Error('no'), recipientError) : null),
  })
  const email = openEmail({ config, smtp: undefined })
  t.after(async () => {
    email.close()
    await smtp.stop()
  })
  const settings = { smtp_url: smtp.url, from: 'jobs@metro.example', channel_id: 'CH_1' }
  const send = (toSettings: object, signal = tenSecondTimeout()) =>
    trySend(email, toSettings, signal, outgoingMessage({ to: 'asha@example.com' }))
  recipientError = { responseCode: 550 }
  assert.equal((await send(settings)).reason, 'unreachable')
  recipientError = { responseCode: 451 }
  assert.equal((await send(settings)).reason, 'busy')
  recipientError = undefined
  assert.equal((await send(settings)).reason, 'none')
  assert.equal((await send({ ...settings, smtp_url: 'smtp://127.0.0.1:1' })).reason, 'busy')

  // A server that accepts the whole email and then never responds, or closes the connection.
  for (const ending of ['hang', 'close'] as const) {
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      socket.write('220 smtp.example\r\n')
      let isReceivingData = false
      socket.on('data', (chunk) => {
        const text = chunk.toString()
        if (isReceivingData) {
          if (text.includes('\r\n.\r\n') && ending === 'close') socket.destroy()
        } else if (text.startsWith('DATA')) {
          isReceivingData = true
          socket.write('354 continue\r\n')
        } else socket.write('250 ok\r\n')
      })
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const smtp_url = `smtp://127.0.0.1:${(server.address() as { port: number }).port}`
    const outcome = await send({ ...settings, smtp_url }, AbortSignal.timeout(ending === 'hang' ? 300 : 10_000))
    assert.equal(outcome.reason, 'unknown', ending)
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})

test('settings: every invalid field is listed, and secrets are redacted', () => {
  const invalidPaths = (channel: Parameters<typeof validateSettings>[0], data: unknown): string[] => {
    try {
      validateSettings(channel, data)
      return []
    } catch (error) {
      return (error as { details: { path: string }[] }).details.map(({ path }) => path)
    }
  }
  assert.deepEqual(invalidPaths('whatsapp', WHATSAPP), [])
  assert.deepEqual(invalidPaths('whatsapp', { ...WHATSAPP, app_secret: undefined, phone: '1' }).sort(), [
    'app_secret',
    'phone',
  ])
  assert.deepEqual(invalidPaths('sms', { ...TWILIO }), ['from'])
  assert.deepEqual(invalidPaths('sms', { ...TWILIO, from: '+14155550100' }), [])
  assert.deepEqual(invalidPaths('voice', { ...TWILIO, from: 'Metro' }), ['from'])
  const withText = (text: string, purpose = 'invitation') => {
    const template = { purpose, language: 'en', template_id: '1107000000000000001', text }
    return { ...EXOTEL, templates: [template] }
  }
  assert.deepEqual(invalidPaths('sms', EXOTEL), [])
  assert.deepEqual(invalidPaths('sms', GUPSHUP), [])
  assert.deepEqual(invalidPaths('sms', { ...GUPSHUP, user_id: 'acme', password: 'short' }).sort(), [
    'password',
    'user_id',
  ])
  assert.deepEqual(invalidPaths('voice', { ...EXOTEL_VOICE, languages: ['en', 'hi'], ring_seconds: 20 }), [])
  assert.deepEqual(
    invalidPaths('voice', { ...EXOTEL_VOICE, app_id: 'flow', from: '140', languages: ['fr'], auth_token: 'x' }).sort(),
    ['app_id', 'auth_token', 'from', 'languages[0]'],
  )
  assert.deepEqual(invalidPaths('sms', { ...EXOTEL, from: 'METRO', dlt_entity_id: 'x', listed_hosts: [] }).sort(), [
    'dlt_entity_id',
    'from',
    'listed_hosts',
  ])
  for (const text of [
    'Answer a few questions',
    'Answer here: {link} {surname}',
    '{name}, {company}, {title}: {link}',
    '{title}{link}',
  ])
    assert.deepEqual(new Set(invalidPaths('sms', withText(text))), new Set(['templates[0].text']), text)
  assert.deepEqual(
    new Set(invalidPaths('sms', withText('Your request: {link}', 'code'))),
    new Set(['templates[0].text']),
  )
  const [template] = EXOTEL.templates
  assert.deepEqual(invalidPaths('sms', { ...EXOTEL, templates: [template, template] }), ['templates[1]'])
  assert.deepEqual(invalidPaths('email', { smtp_url: 'http://x', from: 'a@b.example' }), ['smtp_url'])
  assert.deepEqual(invalidPaths('email', { smtp_url: 'smtps://a:b@mail.example:465', from: 'Jobs <a@b.example>' }), [])
  for (const base_url of [
    'http://10.0.0.1',
    'http://example.com',
    'ftp://x',
    'https://u:p@x.example',
    'https://x?y',
    'x',
  ])
    assert.deepEqual(invalidPaths('sms', { ...TWILIO, from: '+14155550100', base_url }), ['base_url'], base_url)
  for (const base_url of ['https://api.example.com', 'http://127.0.0.1:99', 'http://[::1]:99', 'http://localhost:99'])
    assert.deepEqual(invalidPaths('sms', { ...TWILIO, from: '+14155550100', base_url }), [], base_url)
  assert.doesNotMatch(JSON.stringify(redactSecrets(GUPSHUP)), /password-of-the-tests/)
  const redactedText = JSON.stringify(redactSecrets(WHATSAPP))
  for (const secret of [WHATSAPP.access_token, WHATSAPP.app_secret, WHATSAPP.verify_token])
    assert.ok(!redactedText.includes(secret))
})

test('text replies match options by number or label; other text does not match', () => {
  const question = { ...yesNoPrompt(1), choices: [...yesNoPrompt(1).choices, { value: 'skip', label: 'Skip' }] }
  assert.equal(matchChoice(question, ' 3. '), 'skip')
  assert.equal(matchChoice(question, 'skip'), 'skip')
  assert.equal(matchChoice(question, '4'), undefined)
  const [, numbers] = choicePrompts(['4', '2.5', '1', '12'])
  for (const [reply, value] of [
    ['1', '0'],
    ['4', '3'],
    ['४', '3'],
    ['2.5', '1'],
    ['12', '3'],
  ] as const)
    assert.equal(matchChoice(numbers, reply), value, `${reply}: the number of an option comes before its text`)
  for (const label of ['4', '४', '4.', '(4)']) assert.ok(isOptionNumber(label, numbers!), label)
  for (const label of ['0', '5', '2.5', 'four']) assert.ok(!isOptionNumber(label, numbers!), label)
  const openQuestion = {
    step: 1,
    kind: 'words' as const,
    text: 'How many years?',
    choices: [{ value: 'skip', label: 'Skip' }],
  }
  assert.equal(matchChoice(openQuestion, '1'), undefined, 'a number is itself an answer')
  assert.equal(matchChoice(openQuestion, 'SKIP'), 'skip')
  assert.match(plainText(outgoingMessage({ prompts: [openQuestion] }), 1600), /How many years\?\n\n• Skip\nAnswer here/)
})

test('every channel has an adapter, and a missing or swapped one is an error at startup', async (t) => {
  const { channels, close } = openChannels({ config, smtp: undefined })
  t.after(close)
  for (const name of channelNames) {
    assert.equal(channels[name].name, name)
    const { [name]: _, ...otherChannels } = channels
    const message = `channel ${name} has no adapter; add it to openChannels()`
    assert.throws(() => requireAllChannels(otherChannels as ChannelAdapters), { message })
    const otherName = channelNames.find((candidate) => candidate !== name)!
    assert.throws(() => requireAllChannels({ ...channels, [name]: channels[otherName] }), { message })
  }
})
