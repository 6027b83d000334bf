import assert from 'node:assert/strict'
import { test } from 'node:test'
import PostalMime from 'postal-mime'
import { startSmtp } from '../../../test/support/smtp.ts'
import { until } from '../../../test/support/until.ts'
import { expectOk, startVerification } from '../../../test/support/verification.ts'
import { reviewOutcomeEmail, reviewRequestEmail } from './emails.ts'

test('reviewer and student get emails in any script', async (t) => {
  const smtp = await startSmtp()
  const calls = await startVerification(t, {
    worker: true,
    config: { smtpUrl: smtp.url, mailFrom: 'Attestry <post@example.org>' },
  })
  t.after(smtp.stop)

  const { session, token } = await calls.requestReview({
    student: { name: 'आशा राव' },
    reviewer: { name: 'Zoë "Z" Müller, Dr.' },
  })
  await until(() => smtp.received.length === 1)
  const requestEmail = await PostalMime.parse(smtp.received[0]!)
  assert.deepEqual(requestEmail.to, [{ name: 'Zoë "Z" Müller, Dr.', address: 'ravi.menon@metro.example' }])
  assert.equal(requestEmail.subject, 'आशा राव asks you to confirm a skill')
  assert.equal(requestEmail.replyTo?.[0]?.address, 'asha@example.com')
  assert.ok(requestEmail.text!.includes(`#token=${token}`))
  assert.ok(requestEmail.html!.includes('Bricklaying'))

  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: 'sk_1001', endorsed: true, rating: 5 }] }))
  await until(() => smtp.received.length === 2)
  const studentEmail = await PostalMime.parse(smtp.received[1]!)
  assert.deepEqual(studentEmail.to, [{ name: 'आशा राव', address: 'asha@example.com' }])
  assert.ok(studentEmail.text!.includes('Bricklaying: confirmed, 5 of 5'))
})

test('an email has one button and loads no external resources', () => {
  const { html, text } = reviewRequestEmail({
    reviewer: { name: 'Ravi', email: 'ravi@metro.example', company: 'Metro Ltd' },
    student: { name: 'Asha', email: 'asha@example.com' },
    endorsementType: 'manager',
    source: { type: 'experience', title: 'Mason', subtitle: 'Metro Ltd', meta: null, description: 'x'.repeat(9000) },
    skills: ['Bricklaying', 'Plastering'],
    link: 'https://verify.example/verify/SV_1#token=vrt_1',
    expiresAt: Date.parse('2026-04-10T06:30:00Z'),
    reminder: false,
    organisation: 'Sunrise College',
    brand: undefined,
    unsubscribeUrl: 'https://verify.example/unsubscribe/1',
  })
  assert.doesNotMatch(html, /<img|<link|<style|<script|url\(|@import/i)
  const linkTargets = new Set([...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target))
  assert.deepEqual(
    [...linkTargets],
    ['https://verify.example/verify/SV_1#token=vrt_1', 'https://verify.example/unsubscribe/1'],
  )
  assert.match(text, /on behalf of Asha, who named you, and Sunrise College/)
  assert.match(text, /Asha and Sunrise College will see your answer and your name/)
  assert.match(html, /Sunrise College/)
  assert.match(text, /until 10 April 2026/)
  assert.match(text, /लिंक 10 अप्रैल 2026 तक काम करेगा।[\s\S]+उसी पेज पर मना कर सकते हैं।/)
  assert.match(html, /<p lang="hi"[^>]*>Sunrise College के लिए Asha के हुनर की जाँच हो रही है/)
  assert.ok(html.length < 20_000, 'some email clients truncate long emails')
})

test('the dates of a source are in the language of the email', () => {
  const textIn = (language: string) =>
    reviewOutcomeEmail({
      reviewer: { name: 'Ravi', email: 'ravi@metro.example' },
      student: { name: 'Asha', email: 'asha@example.com' },
      source: { type: 'experience', title: 'Mason', subtitle: null, meta: '2023-01 – 2024-06', description: null },
      skills: [],
      language,
      unsubscribeUrl: 'https://verify.example/unsubscribe/1',
      brand: undefined,
    }).text
  assert.match(textIn('hi'), /^Mason, जनवरी 2023 – जून 2024$/m)
  assert.match(textIn('en'), /^Mason, Jan 2023 – Jun 2024$/m)
})
