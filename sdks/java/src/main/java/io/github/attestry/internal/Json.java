package io.github.attestry.internal;

import io.github.attestry.AttestryException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON, so that the library has no dependencies. Objects are records; see {@link JsonName}. Not part of
 * the public API.
 */
public final class Json {
    private static final int MAX_DEPTH = 200;

    private Json() {
    }

    /** Parses a text into maps, lists, strings, longs, doubles, booleans and null. */
    public static Object parse(String text) {
        return new Parser(text).parse();
    }

    /** Parses a text into an object of the given class. */
    public static <T> T read(String text, Class<T> target) {
        return convert(parse(text), target);
    }

    /** Converts parsed JSON into an object of the given class. */
    public static <T> T convert(Object value, Class<T> target) {
        return target.cast(bind(value, target, target.getSimpleName()));
    }

    /** Writes maps, lists, records, strings, numbers, booleans and null. Components of records that are null are omitted. */
    public static String write(Object value) {
        var out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static Object bind(Object value, Type type, String path) {
        if (type instanceof ParameterizedType generic) {
            if (value == null) return null;
            var arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == List.class && value instanceof List<?> list) {
                var items = new ArrayList<Object>(list.size());
                for (var item : list) items.add(bind(item, arguments[0], path + "[]"));
                return items;
            }
            if (generic.getRawType() == Map.class && value instanceof Map<?, ?> map) {
                var entries = new LinkedHashMap<String, Object>();
                map.forEach((key, item) -> entries.put((String) key, bind(item, arguments[1], path + "." + key)));
                return entries;
            }
            throw mismatch(value, type, path);
        }
        var target = (Class<?>) type;
        if (value == null) return target.isPrimitive() ? defaultOf(target) : null;
        if (target == Object.class) return value;
        if (target == String.class && value instanceof String) return value;
        if ((target == boolean.class || target == Boolean.class) && value instanceof Boolean) return value;
        if ((target == long.class || target == Long.class) && value instanceof Number number) return number.longValue();
        if ((target == double.class || target == Double.class) && value instanceof Number number) {
            return number.doubleValue();
        }
        if (StringValue.class.isAssignableFrom(target) && value instanceof String) return construct(target, value);
        if (target.isRecord() && value instanceof Map<?, ?> map) {
            var components = target.getRecordComponents();
            var arguments = new Object[components.length];
            for (int i = 0; i < components.length; i++) {
                var name = nameOf(components[i]);
                arguments[i] = bind(map.get(name), components[i].getGenericType(), path + "." + name);
            }
            return construct(target, arguments);
        }
        throw mismatch(value, type, path);
    }

    private static AttestryException mismatch(Object value, Type type, String path) {
        return new AttestryException("Unexpected JSON: " + path + " must be " + type.getTypeName() + ", not "
                + value.getClass().getSimpleName() + ".");
    }

    private static Object defaultOf(Class<?> primitive) {
        if (primitive == boolean.class) return false;
        return primitive == double.class ? (Object) 0.0 : (Object) 0L;
    }

    private static Object construct(Class<?> target, Object... arguments) {
        var components = target.getRecordComponents();
        var types = new Class<?>[components.length];
        for (int i = 0; i < components.length; i++) types[i] = components[i].getType();
        try {
            return target.getDeclaredConstructor(types).newInstance(arguments);
        } catch (InvocationTargetException exception) {
            throw new AttestryException("Unexpected JSON: " + exception.getCause().getMessage(), exception.getCause());
        } catch (ReflectiveOperationException exception) {
            throw new AttestryException("Creating a " + target.getSimpleName() + " failed.", exception);
        }
    }

    private static String nameOf(RecordComponent component) {
        var name = component.getAnnotation(JsonName.class);
        return name == null ? component.getName() : name.value();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long
                || value instanceof Short || value instanceof Byte || value instanceof java.math.BigInteger) {
            out.append(value);
        } else if (value instanceof Number number) {
            if (!Double.isFinite(number.doubleValue())) throw new AttestryException("JSON has no number " + number + ".");
            out.append(number);
        } else if (value instanceof CharSequence text) {
            writeString(text, out);
        } else if (value instanceof StringValue named) {
            writeString(named.value(), out);
        } else if (value instanceof Map<?, ?> map) {
            var separator = '{';
            for (var entry : map.entrySet()) {
                out.append(separator);
                writeString(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ',';
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            out.append('[');
            var isFirst = true;
            for (var item : items) {
                if (!isFirst) out.append(',');
                write(item, out);
                isFirst = false;
            }
            out.append(']');
        } else if (value instanceof Record) {
            writeRecord(value, out);
        } else {
            throw new AttestryException("A " + value.getClass().getName()
                    + " cannot be written as JSON. Use maps, lists, records, strings, numbers and booleans.");
        }
    }

    private static void writeRecord(Object value, StringBuilder out) {
        var separator = '{';
        for (var component : value.getClass().getRecordComponents()) {
            Object item;
            try {
                var accessor = component.getAccessor();
                accessor.trySetAccessible();
                item = accessor.invoke(value);
            } catch (ReflectiveOperationException exception) {
                throw new AttestryException("Reading " + component.getName() + " failed.", exception);
            }
            if (item == null) continue;
            out.append(separator);
            writeString(nameOf(component), out);
            out.append(':');
            write(item, out);
            separator = ',';
        }
        out.append(separator == '{' ? "{}" : "}");
    }

    private static void writeString(CharSequence text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            var c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    // A surrogate without its partner has no UTF-8 encoding, so it is escaped.
                    var isLone = Character.isHighSurrogate(c)
                            ? i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))
                            : Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
                    if (c < ' ' || isLone) out.append(String.format("\\u%04x", (int) c));
                    else out.append(c);
                }
            }
        }
        out.append('"');
    }

    private static final class Parser {
        private final String text;
        private int position;
        private int depth;

        Parser(String text) {
            this.text = text;
        }

        Object parse() {
            var value = value();
            skipSpace();
            if (position < text.length()) throw error("the end of the text");
            return value;
        }

        private Object value() {
            skipSpace();
            if (position >= text.length()) throw error("a value");
            switch (text.charAt(position)) {
                case '{':
                    return object();
                case '[':
                    return array();
                case '"':
                    return string();
                case 't':
                    return literal("true", true);
                case 'f':
                    return literal("false", false);
                case 'n':
                    return literal("null", null);
                default:
                    return number();
            }
        }

        private Map<String, Object> object() {
            enter();
            var result = new LinkedHashMap<String, Object>();
            if (!tryConsume('}')) {
                do {
                    skipSpace();
                    var name = string();
                    consume(':');
                    result.put(name, value());
                } while (tryConsume(','));
                consume('}');
            }
            depth--;
            return result;
        }

        private List<Object> array() {
            enter();
            var result = new ArrayList<Object>();
            if (!tryConsume(']')) {
                do {
                    result.add(value());
                } while (tryConsume(','));
                consume(']');
            }
            depth--;
            return result;
        }

        private void enter() {
            position++;
            if (++depth > MAX_DEPTH) throw new AttestryException("The JSON is nested too deeply.");
        }

        private String string() {
            if (position >= text.length() || text.charAt(position) != '"') throw error("a string");
            position++;
            var result = new StringBuilder();
            while (true) {
                if (position >= text.length()) throw error("the end of the string");
                var c = text.charAt(position++);
                if (c == '"') return result.toString();
                if (c < ' ') throw error("an escaped control character");
                if (c != '\\') {
                    result.append(c);
                    continue;
                }
                if (position >= text.length()) throw error("an escape sequence");
                var escape = text.charAt(position++);
                switch (escape) {
                    case '"', '\\', '/' -> result.append(escape);
                    case 'b' -> result.append('\b');
                    case 'f' -> result.append('\f');
                    case 'n' -> result.append('\n');
                    case 'r' -> result.append('\r');
                    case 't' -> result.append('\t');
                    case 'u' -> {
                        if (position + 4 > text.length()) throw error("four hex digits");
                        try {
                            result.append((char) Integer.parseUnsignedInt(text, position, position + 4, 16));
                        } catch (NumberFormatException malformed) {
                            throw error("four hex digits");
                        }
                        position += 4;
                    }
                    default -> throw error("an escape sequence");
                }
            }
        }

        private Number number() {
            var start = position;
            while (position < text.length() && "+-.eE0123456789".indexOf(text.charAt(position)) >= 0) position++;
            var digits = text.substring(start, position);
            if (!digits.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) {
                position = start;
                throw error("a value");
            }
            if (digits.matches("-?[0-9]{1,18}")) return Long.parseLong(digits);
            return Double.parseDouble(digits);
        }

        private Object literal(String word, Object value) {
            if (!text.startsWith(word, position)) throw error("a value");
            position += word.length();
            return value;
        }

        private boolean tryConsume(char expected) {
            skipSpace();
            if (position >= text.length() || text.charAt(position) != expected) return false;
            position++;
            return true;
        }

        private void consume(char expected) {
            if (!tryConsume(expected)) throw error("'" + expected + "'");
        }

        private void skipSpace() {
            while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) position++;
        }

        private AttestryException error(String expected) {
            return new AttestryException("Malformed JSON: expected " + expected + " at position " + position + ".");
        }
    }
}
