import type { Context } from '../../context.ts'
import { queueMail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { escapeHtml } from '../../web-assets/assets.ts'
import { type Member, membershipsOf } from './members.ts'
import { linkTo, MAIL_LINK_LIFE, makeLink } from './sign-in-links.ts'

type Tools = Pick<Context, 'clock' | 'vault' | 'queue' | 'config'>

/**
 * Asked for whatever address somebody typed; only the job looks whether anybody has it. So the answer takes the same time, and
 * tells nobody who is known here.
 */
export const mailSignInLink = defineJob<{ email: string }>('mail-sign-in-link', { retries: 3 })

export async function sendSignInLink(tx: Tx, tools: Tools, typed: string): Promise<void> {
  const [membership] = await membershipsOf(tx, typed)
  if (!membership) return
  // To the address that is known here, as it is written here: another that only looks or folds like it gets nothing.
  const { email } = membership
  const token = await makeLink(tx, tools.clock, email)
  const link = linkTo(tools.config.publicUrl!, token)
  const told = `This link signs you in to the Attestry console. It works once, within ${MAIL_LINK_LIFE / 60_000} minutes, and is yours alone.`
  const otherwise = 'If you did not ask for it, do nothing: nobody is signed in without it.'
  await queueMail(tx, tools, {
    kind: 'sign_in',
    to: { address: email },
    subject: 'Your sign-in link',
    text: [told, link, otherwise].join('\n\n'),
    html: page([paragraph(told), anchor('Sign in', link), paragraph(otherwise)]),
  })
}

/** Tells somebody where to sign in; the link itself is asked for there, because it does not live long. */
export async function sendInvitation(tx: Tx, tools: Tools, member: Member, organisation: string): Promise<void> {
  const link = `${tools.config.publicUrl}/console`
  const told = `You can now work in ${organisation} at Attestry, as ${member.role}.`
  const how = `Open ${link} and enter ${member.email}: a link that signs you in comes by mail.`
  await queueMail(tx, tools, {
    kind: 'notice',
    to: { address: member.email },
    scope: { orgId: member.org_id, mode: 'live' },
    subject: `You have been added to ${organisation}`,
    text: [told, how].join('\n\n'),
    html: page([paragraph(told), paragraph(how), anchor('Open the console', link)]),
  })
}

const P = 'margin:0 0 16px;font:16px/24px sans-serif;color:#1f2933'

export function paragraph(text: string) {
  return `<p style="${P}">${escapeHtml(text)}</p>`
}

export function anchor(label: string, link: string) {
  return `<p style="${P}"><a href="${escapeHtml(link)}" style="color:#1d5fbf;font-weight:600">${escapeHtml(label)}</a></p>`
}

export function page(parts: string[]) {
  return `<!doctype html><html lang="en"><body style="margin:0;padding:24px">${parts.join('\n')}</body></html>`
}
