{{- define "attestry.labels" -}}
app.kubernetes.io/name: attestry
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "attestry.selector" -}}
app.kubernetes.io/name: attestry
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "attestry.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Image, security, environment and secrets of every container. Arguments: root, roles (empty: none). */}}
{{- define "attestry.container" -}}
image: {{ required "set image.repository to the image that deploy/Containerfile builds" .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: PUBLIC_URL
    value: {{ required "set publicUrl, such as https://verify.example.com" .root.Values.publicUrl | quote }}
  - name: OPERATOR_EMAIL
    value: {{ required "set operatorEmail to the email address of the first operator" .root.Values.operatorEmail | quote }}
  - name: DRAIN_SECONDS
    value: {{ .root.Values.drainSeconds | quote }}
  - name: METRICS_PORT
    value: {{ .root.Values.metrics.port | quote }}
  {{- with .roles }}
  - name: ROLES
    value: {{ . }}
  {{- end }}
  {{- with .root.Values.trustProxy }}
  - name: TRUST_PROXY
    value: {{ . | quote }}
  {{- end }}
  {{- range .root.Values.secret.keys }}
  - name: {{ . | upper | replace "-" "_" }}_FILE
    value: /etc/attestry/secrets/{{ . }}
  {{- end }}
  {{- range $name, $value := .root.Values.env }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
volumeMounts:
  - name: secrets
    mountPath: /etc/attestry/secrets
    readOnly: true
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- define "attestry.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secret.name }}
    # Readable by the group of the pod only: the server rejects secrets that others can read.
    defaultMode: 0440
    items:
      {{- range .Values.secret.keys }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
- name: tmp
  emptyDir: {}
{{- end }}
