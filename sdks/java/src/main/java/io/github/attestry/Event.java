package io.github.attestry;

import io.github.attestry.internal.Json;
import io.github.attestry.internal.JsonName;
import io.github.attestry.model.EventType;
import io.github.attestry.model.Mode;
import io.github.attestry.resource.EventData;
import java.util.Map;

/**
 * A change of one of your objects. It is delivered by webhook and returned by {@code client.events()}.
 *
 * @param sequence increases with every event of the organisation
 * @param data the whole record after the change; {@link #decodeData()} returns it as an object
 * @param delivery set if the event was pulled, and null in a webhook delivery
 */
public record Event(@JsonName("event_id") String eventId, EventType type, Mode mode, long sequence,
        @JsonName("created_at") String createdAt, Map<String, Object> data, Delivery delivery) {
    /**
     * The delivery of an event.
     *
     * @param acknowledgedBy {@code pull}, {@code webhook} or null
     */
    public record Delivery(@JsonName("acknowledged_at") String acknowledgedAt,
            @JsonName("acknowledged_by") String acknowledgedBy, long attempts, @JsonName("last_error") String lastError) {
    }

    /**
     * Returns the data as an object of its type, such as a Mandate or a Result. For an event type that this version of
     * the library does not know, it returns the map.
     *
     * <pre>{@code if (event.decodeData() instanceof Result result) System.out.println(result.status());}</pre>
     */
    public Object decodeData() {
        var dataClass = EventData.classOf(type);
        return dataClass == null ? data : dataAs(dataClass);
    }

    /** Returns the data as an object of the given class. */
    public <T> T dataAs(Class<T> dataClass) {
        return Json.convert(data, dataClass);
    }
}
