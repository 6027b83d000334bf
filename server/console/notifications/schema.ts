import { Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { closed } from '../schema.ts'
import { KIND_OF_TYPE, notificationKinds } from './notification-types.ts'

const text = Type.String()
const Kind = named('NotificationKind', Type.Enum([...notificationKinds]))

const NotificationRecord = named(
  'ConsoleNotification',
  Type.Object({
    notification_id: text,
    kind: Kind,
    type: Type.Enum(Object.keys(KIND_OF_TYPE) as (keyof typeof KIND_OF_TYPE)[]),
    count: Type.Integer({ description: 'Number of events.' }),
    values: Type.Record(Type.String(), Type.String(), { description: 'The names and reasons in the text.' }),
    text: Type.String({ description: 'In English.' }),
    path: Type.String({ description: 'The page that it is about, below organisation and mode.' }),
    updated_at: text,
    is_unread: Type.Boolean(),
  }),
)

export const NotificationList = named(
  'NotificationList',
  Type.Object({ items: Type.Array(NotificationRecord), unread: Type.Integer() }),
)

export const UnreadCount = named('UnreadCount', Type.Object({ unread: Type.Integer() }))

export const NotificationSettingsRecord = named(
  'NotificationSettings',
  Type.Object(
    {
      kinds: Type.Array(Kind, {
        uniqueItems: true,
        maxItems: notificationKinds.length,
        description: 'The kinds that the member gets.',
      }),
      digest: Type.Enum(['off', 'daily']),
      digest_hour: Type.Integer({ minimum: 0, maximum: 23, description: 'The hour of the daily email.' }),
      time_zone: Type.String({ maxLength: 60, description: 'The time zone of the hour, such as Asia/Kolkata.' }),
      immediate_failures: Type.Boolean({ description: 'Whether failures are emailed within a minute or two.' }),
    },
    closed,
  ),
)
