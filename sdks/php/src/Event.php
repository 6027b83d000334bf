<?php

declare(strict_types=1);

namespace Attestry;

/** A change of one of your objects. It is delivered by webhook and returned by `$client->events`. */
final class Event implements \JsonSerializable
{
    /**
     * @param string $type type such as `result.completed`; constants are in Model\EventType
     * @param string $mode `test` or `live`
     * @param int $sequence increases with every event of the organisation
     * @param array<string, mixed> $data the whole record after the change; decodeData() returns it as an object
     * @param array<string, mixed>|null $delivery set if the event was pulled, and null in a webhook delivery
     */
    public function __construct(
        public readonly string $eventId,
        public readonly string $type,
        public readonly string $mode,
        public readonly int $sequence,
        public readonly string $createdAt,
        public readonly array $data,
        public readonly ?array $delivery = null,
    ) {
    }

    /**
     * @internal Creates the event from decoded JSON.
     * @param array<string, mixed> $data
     */
    public static function fromArray(array $data): self
    {
        return new self(
            eventId: (string) ($data['event_id'] ?? ''),
            type: (string) ($data['type'] ?? ''),
            mode: (string) ($data['mode'] ?? ''),
            sequence: (int) ($data['sequence'] ?? 0),
            createdAt: (string) ($data['created_at'] ?? ''),
            data: (array) ($data['data'] ?? []),
            delivery: isset($data['delivery']) ? (array) $data['delivery'] : null,
        );
    }

    /**
     * Returns the data as an object of its type, such as a Model\Mandate or a Model\Result. For an event type that this
     * version of the package does not know, it returns the array.
     */
    public function decodeData(): object|array
    {
        return EventData::decode($this->type, $this->data);
    }

    public function jsonSerialize(): object
    {
        return Json::object([
            'event_id' => $this->eventId,
            'type' => $this->type,
            'mode' => $this->mode,
            'sequence' => $this->sequence,
            'created_at' => $this->createdAt,
            'data' => Json::map($this->data),
            'delivery' => $this->delivery,
        ]);
    }
}
