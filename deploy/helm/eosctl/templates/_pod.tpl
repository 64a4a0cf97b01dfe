{{/* The labels of a component. */}}
{{- define "eosctl.labels" -}}
app.kubernetes.io/name: eosctl
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels that distinguish releases; selectors have the instance alone, as they can never change. */}}
{{- define "eosctl.managed" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "eosctl.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
volumes:
  - name: client
    configMap:
      name: {{ .Release.Name }}-client
{{- with .Values.client.userSecret }}
  - name: user
    secret:
      secretName: {{ . }}
{{- end }}
{{- with .Values.client.caSecret }}
  - name: ca
    secret:
      secretName: {{ . }}
{{- end }}
  - name: tmp
    emptyDir: {}
{{- end }}

{{- define "eosctl.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: EOSCTL_COMMAND_CONFIG
    value: /etc/eosctl/client/client.properties
  - name: HOME
    value: /tmp
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: client
    mountPath: /etc/eosctl/client
    readOnly: true
{{- if .Values.client.userSecret }}
  - name: user
    mountPath: /etc/eosctl/user
    readOnly: true
{{- end }}
{{- if .Values.client.caSecret }}
  - name: ca
    mountPath: /etc/eosctl/ca
    readOnly: true
{{- end }}
  - name: tmp
    mountPath: /tmp
{{- end }}
