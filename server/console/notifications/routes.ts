import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { findMemberByEmail } from '../auth/members.ts'
import { successResponse } from '../schema.ts'
import {
  countUnread,
  type DescribedNotification,
  describeNotifications,
  listNotifications,
  markAllRead,
  type Recipient,
} from './notifications.ts'
import { NotificationList, NotificationSettingsRecord, UnreadCount } from './schema.ts'
import { getNotificationSettings, type NotificationSettings, saveNotificationSettings } from './settings.ts'

/** Notifications of the signed-in member, and the member's choice which to get. */
export function notificationRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const config = { role: 'viewer', membersOnly: true } as const

  app.get(
    '/orgs/:org/:mode/notifications',
    { config, schema: { response: { 200: success(NotificationList) } } },
    async (request) => {
      const recipient = await recipientOf(request)
      const notifications = await listNotifications(db.queries, request.caller, recipient)
      const items = (await describeNotifications(db.queries, notifications)).map(notificationRecord)
      return successResponse('Notifications', {
        items,
        unread: await countUnread(db.queries, request.caller, recipient),
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/notifications/unread',
    { config, schema: { response: { 200: success(UnreadCount) } } },
    async (request) => {
      const unread = await countUnread(db.queries, request.caller, await recipientOf(request))
      return successResponse('Unread notifications', { unread })
    },
  )

  app.post(
    '/orgs/:org/:mode/notifications/read',
    { config, schema: { response: { 200: success(Type.Object({})) } } },
    async (request) => {
      const memberId = await memberIdOf(request)
      await db.transaction((tx) => markAllRead(tx, request.caller, memberId))
      return successResponse('Notifications marked as read', {})
    },
  )

  app.get(
    '/orgs/:org/notification-settings',
    { config, schema: { response: { 200: success(NotificationSettingsRecord) } } },
    async (request) => successResponse('Settings', await settingsOf(request)),
  )

  app.put(
    '/orgs/:org/notification-settings',
    { config, schema: { body: NotificationSettingsRecord, response: { 200: success(NotificationSettingsRecord) } } },
    async (request) => {
      const { body, orgAccess } = request
      const memberId = await memberIdOf(request)
      await db.transaction((tx) => saveNotificationSettings(tx, clock, { orgId: orgAccess.orgId, memberId }, body))
      return successResponse('Settings saved', await settingsOf(request))
    },
  )

  async function memberIdOf({ orgAccess, session }: FastifyRequest): Promise<string> {
    const member = await findMemberByEmail(db.queries, orgAccess.orgId, session.email)
    if (!member) throw problem('FORBIDDEN', 'Only members of the organisation have notifications.')
    return member.member_id
  }

  async function recipientOf(request: FastifyRequest): Promise<Recipient> {
    const memberId = await memberIdOf(request)
    const { kinds } = await getNotificationSettings(db.queries, { orgId: request.orgAccess.orgId, memberId })
    return { memberId, kinds }
  }

  async function settingsOf(request: FastifyRequest): Promise<NotificationSettings> {
    return getNotificationSettings(db.queries, { orgId: request.orgAccess.orgId, memberId: await memberIdOf(request) })
  }
}

function notificationRecord({
  notification_id,
  kind,
  type,
  count,
  values,
  text,
  path,
  updated_at,
  is_unread,
}: DescribedNotification) {
  return { notification_id, kind, type, count, values, text, path, updated_at: updated_at.toISOString(), is_unread }
}
