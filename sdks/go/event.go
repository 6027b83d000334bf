package attestry

import (
	"encoding/json"
	"fmt"
)

// Event is a change of one of your objects. It is delivered by webhook and returned by client.Events.
type Event struct {
	EventID string    `json:"event_id"`
	Type    EventType `json:"type"`
	Mode    Mode      `json:"mode"`
	// Sequence increases with every event of the organisation.
	Sequence  int64  `json:"sequence"`
	CreatedAt string `json:"created_at"`
	// Data is the whole record after the change as JSON; DecodeData decodes it.
	Data json.RawMessage `json:"data"`
	// Delivery is set if the event was pulled, and nil in a webhook delivery.
	Delivery *EventDelivery `json:"delivery,omitempty"`
}

// EventDelivery describes how an event was delivered.
type EventDelivery struct {
	AcknowledgedAt *string `json:"acknowledged_at"`
	// AcknowledgedBy is pull or webhook.
	AcknowledgedBy *string `json:"acknowledged_by"`
	Attempts       int64   `json:"attempts"`
	LastError      *string `json:"last_error"`
}

// DecodeData returns the data of the event as a pointer to its type, such as *Mandate or *Result. For an event type
// that this version of the package does not know, it returns a map[string]any.
//
//	data, err := event.DecodeData()
//	switch data := data.(type) {
//	case *attestry.Result:
//		fmt.Println(data.ResultID, data.Status)
//	}
func (e *Event) DecodeData() (any, error) {
	data := newEventData(e.Type)
	if data == nil {
		data = &map[string]any{}
	}
	if err := json.Unmarshal(e.Data, data); err != nil {
		return nil, fmt.Errorf("attestry: decoding the data of event %s (%s): %w", e.EventID, e.Type, err)
	}
	if unknown, isUnknown := data.(*map[string]any); isUnknown {
		return *unknown, nil
	}
	return data, nil
}
