/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The meaning of graphics functions for the format's tools: functions that end a frame, and
 * functions that only query state.
 */
#include <string.h>

#include "base/cleanup.h"
#include "reader/apitrace/apitrace-text.h"

static const char *const frame_ends[] = {
	"CGLFlushDrawable",
	"IDirect3DDevice8::Present",
	"IDirect3DDevice9::GetRenderTargetData",
	"IDirect3DDevice9::Present",
	"IDirect3DDevice9Ex::GetRenderTargetData",
	"IDirect3DDevice9Ex::Present",
	"IDirect3DDevice9Ex::PresentEx",
	"IDirect3DSwapChain9::Present",
	"IDirect3DSwapChain9Ex::Present",
	"eglSwapBuffers",
	"eglSwapBuffersWithDamageEXT",
	"eglSwapBuffersWithDamageKHR",
	"glFrameTerminatorGREMEDY",
	"glXSwapBuffers",
	"glXSwapBuffersMscOML",
	"wglSwapBuffers",
	"wglSwapLayerBuffers",
	"wglSwapMultipleBuffers",
};

/* Names of queries after "glIs", "glXGet" and "wglGet". */
static const char *const gl_is[] = {
	"AsyncMarkerSGIX",
	"Buffer",
	"BufferARB",
	"BufferResidentNV",
	"Enabled",
	"EnabledIndexedEXT",
	"Enabledi",
	"FenceAPPLE",
	"FenceNV",
	"Framebuffer",
	"FramebufferEXT",
	"List",
	"NameAMD",
	"NamedBufferResidentNV",
	"NamedStringARB",
	"ObjectBufferATI",
	"OcclusionQueryNV",
	"Program",
	"ProgramARB",
	"ProgramNV",
	"ProgramPipeline",
	"Query",
	"QueryARB",
	"Renderbuffer",
	"RenderbufferEXT",
	"Sampler",
	"Shader",
	"Sync",
	"Texture",
	"TextureEXT",
	"TransformFeedback",
	"TransformFeedbackNV",
	"VariantEnabledEXT",
	"VertexArray",
	"VertexArrayAPPLE",
	"VertexAttribEnabledAPPLE",
};

static const char *const glx_get[] = {
	"ClientString",        "Config",
	"CurrentContext",      "CurrentDisplay",
	"CurrentDisplayEXT",   "CurrentDrawable",
	"CurrentReadDrawable", "CurrentReadDrawableSGI",
	"FBConfigAttrib",      "FBConfigAttribSGIX",
	"ProcAddress",         "ProcAddressARB",
};

static const char *const wgl_get[] = {
	"CurrentContext",      "CurrentDC",   "DefaultProcAddress",     "ExtensionsStringARB",
	"ExtensionsStringEXT", "PixelFormat", "PixelFormatAttribivARB", "PixelFormatAttribivEXT",
	"ProcAddress",
};

static const char *const other_queries[] = {
	"CGLGetCurrentContext",
	"eglGetConfigAttrib",
	"eglGetProcAddress",
	"eglQueryString",
	"glGetString",
	"glGetStringi",
	"glXIsDirect",
	"glXQueryExtension",
	"glXQueryExtensionsString",
	"glXQueryVersion",
	"wglDescribePixelFormat",
};

/* Queries of IDirect3D8, IDirect3D9 and IDirect3D9Ex. */
static const char *const direct3d_queries[] = {
	"CheckDeviceFormat",
	"EnumAdapterModes",
	"GetAdapterModeCount",
	"GetDeviceCaps",
};

static bool apitrace_meaning_has(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

#define MEANING_HAS(list, name) apitrace_meaning_has(list, ARRAY_SIZE(list), name)

/* Returns the part of NAME after PREFIX, or NULL if NAME does not begin with PREFIX. */
static const char *apitrace_meaning_pointee(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/* Returns true if NAME is IDXGISwapChain1::Present1 or a similar function. */
static bool apitrace_meaning_is_dxgi_present(const char *name)
{
	const char *rest = apitrace_meaning_pointee(name, "IDXGISwapChain")
				   ?: apitrace_meaning_pointee(name, "IDXGIDecodeSwapChain");

	rest = rest ? strstr(rest, "::") : NULL;
	return rest && apitrace_meaning_pointee(rest, "::Present");
}

bool apitrace_ends_frame(const struct apitrace_text *function)
{
	const char *name = function->n > 0 ? function->bytes : "";

	if (!strchr("CIegw", name[0]))
		return false;
	return MEANING_HAS(frame_ends, name) || apitrace_meaning_is_dxgi_present(name);
}

static bool apitrace_meaning_is_direct3d_query(const char *name)
{
	const char *method = strstr(name, "::");

	if (!method || !apitrace_meaning_pointee(name, "IDirect3D"))
		return false;
	if (apitrace_meaning_pointee(name, "IDirect3DDevice"))
		return strcmp(method, "::GetDeviceCaps") == 0 && !strstr(name, "Device7");
	return MEANING_HAS(direct3d_queries, method + 2);
}

/* Returns true if a call of glGetError() found no error. The function must have no arguments. */
static bool apitrace_meaning_is_no_error(const struct apitrace_call *call)
{
	const struct apitrace_value *ret = call->ret;

	if (strcmp(call->function->name.bytes, "glGetError") != 0 || call->function->n > 0 || !ret)
		return false;
	switch (ret->type) {
	case APITRACE_NULL:
	case APITRACE_FALSE:
		return true;
	case APITRACE_UINT:
	case APITRACE_SINT:
		return ret->uint == 0;
	case APITRACE_ENUM:
	case APITRACE_BITMASK:
		return ret->set.value == 0;
	default:
		return false;
	}
}

bool apitrace_is_query(const struct apitrace_call *call)
{
	const char *name = call->function->name.n > 0 ? call->function->name.bytes : "";
	const char *rest;

	if (!strchr("CIegw", name[0]))
		return false;
	if ((rest = apitrace_meaning_pointee(name, "glIs")))
		return MEANING_HAS(gl_is, rest);
	if ((rest = apitrace_meaning_pointee(name, "glXGet")))
		return MEANING_HAS(glx_get, rest);
	if ((rest = apitrace_meaning_pointee(name, "wglGet")))
		return MEANING_HAS(wgl_get, rest);
	return MEANING_HAS(other_queries, name) || apitrace_meaning_is_no_error(call) ||
	       apitrace_meaning_is_direct3d_query(name);
}
