import type { Context } from '../../context.ts'
import { queueMail } from '../../mail/mail.ts'
import type { Tx } from '../../platform/database/database.ts'
import type { Running } from '../../platform/jobs/queue.ts'
import { onEndpointFailing } from '../../webhooks/delivery/health.ts'
import { anchor, page, paragraph } from '../auth/sign-in-emails.ts'

/** Tells the owners of an organisation when one of its endpoints has had nothing but failures for a day. */
export function startTellingOwners(context: Context): Running {
  const stop = onEndpointFailing((tx, webhookId) => mailOwners(tx, context, webhookId))
  return { stop: async () => stop() }
}

async function mailOwners(tx: Tx, context: Context, webhookId: string): Promise<void> {
  const owners = await tx
    .selectFrom('webhooks as w')
    .innerJoin('organisations as o', 'o.org_id', 'w.org_id')
    .innerJoin('console_members as m', 'm.org_id', 'w.org_id')
    .select(['w.org_id', 'w.mode', 'w.url', 'o.name', 'm.email'])
    .where('w.webhook_id', '=', webhookId)
    .where('m.role', '=', 'owner')
    .orderBy('m.member_id')
    .execute()
  for (const { org_id: orgId, mode, url, name, email } of owners) {
    const link = `${context.config.publicUrl}/console/${orgId}/${mode}/webhooks/${webhookId}`
    const told = `For a day, the webhook endpoint ${url} of ${name} (${mode.toUpperCase()}) has taken nothing that was sent to it.`
    const next = 'It stays in use: events are kept for 30 days and sent again until it takes them. See what it answers:'
    await queueMail(tx, context, {
      kind: 'notice',
      to: { address: email },
      scope: { orgId, mode: mode as 'test' | 'live' },
      subjectId: webhookId,
      subject: `A webhook endpoint of ${name} is failing`,
      text: [told, next, link].join('\n\n'),
      html: page([paragraph(told), paragraph(next), anchor('Open the endpoint', link)]),
    })
  }
}
